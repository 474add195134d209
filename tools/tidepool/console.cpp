#include "console.hpp"

#include <algorithm>

namespace tool {
namespace {

constexpr std::size_t flush_at = 64 * 1024;

}  // namespace

console::~console() {
  flush();
  erase();
}

void console::result(std::string_view text) {
  if (output_error_) return;
  results_ += text;
  if (results_.size() >= flush_at) flush();
}

void console::flush() {
  if (results_.empty()) return;
  if (is_terminal(output_stream::out)) erase();
  if (!output_error_) output_error_ = write_all(output_stream::out, results_);
  results_.clear();
}

void console::message(std::string_view text) {
  flush();
  erase();
  std::string line = name_;
  line += ": ";
  line += text;
  line += '\n';
  write_all(output_stream::err, line);
}

void console::draw(const std::string& line) {
  std::string text = "\r" + line;
  if (drawn_ > line.size()) text.append(drawn_ - line.size(), ' ');
  write_all(output_stream::err, text);
  drawn_ = std::max(drawn_, line.size());
}

void console::erase() {
  if (drawn_ == 0) return;
  // Spaces rather than a control sequence: they work on every terminal.
  std::string text(drawn_ + 2, ' ');
  text.front() = text.back() = '\r';
  write_all(output_stream::err, text);
  drawn_ = 0;
}

}  // namespace tool
