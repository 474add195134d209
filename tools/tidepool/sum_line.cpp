#include "sum_line.hpp"

#include <fmt/format.h>

#include <iterator>

#include "utf8.hpp"

namespace tool {
namespace {

std::string escaped(std::string_view path) {
  std::string result;
  for (const char c : path) {
    switch (c) {
      case '\n': result += "\\n"; break;
      case '\r': result += "\\r"; break;
      case '\\': result += "\\\\"; break;
      default: result += c;
    }
  }
  return result;
}

std::string line(std::string_view prefix, const digest& sum, std::string_view name) {
  return fmt::format("{}{:02x}  {}\n", prefix, fmt::join(sum, ""), name);
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  // C0, DEL, and the C1 controls, which in UTF-8 are C2 80 to C2 9F.
  return first < 0x20 || first == 0x7F || (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

}  // namespace

std::string sum_line(const digest& sum, std::string_view path) {
  if (path.find('\n') != std::string_view::npos) return line("\\", sum, escaped(path));
  if (path == "stdin") return line("", sum, "./stdin");
  return line("", sum, path);
}

std::string standard_input_line(const digest& sum) { return line("", sum, "stdin"); }

std::string printable(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t length = utf8_sequence_length(path);
    if (path[0] == '\n') {
      result += "\\n";
    } else if (path[0] == '\r') {
      result += "\\r";
    } else if (path[0] == '\t') {
      result += "\\t";
    } else if (length != 0 && !is_control(path)) {
      result += path.substr(0, length);
    } else {
      for (const char c : path.substr(0, length != 0 ? length : 1)) {
        fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    path.remove_prefix(length != 0 ? length : 1);
  }
  return result;
}

}  // namespace tool
