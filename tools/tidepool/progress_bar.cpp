#include "progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "standard_streams.hpp"

namespace tool {

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string with_bar(std::optional<double> part, std::string text, int width) {
  const auto columns = static_cast<std::size_t>(std::max(width, 1));
  if (part) {
    const std::string percentage = fmt::format("{:3d}%  ", static_cast<int>(*part * 100));
    constexpr std::size_t shortest_bar = 10, longest_bar = 40, frame = 3;  // "[" and "] "
    if (columns >= text.size() + percentage.size() + frame + shortest_bar) {
      const std::size_t length = std::min(columns - text.size() - percentage.size() - frame, longest_bar);
      const auto full = static_cast<std::size_t>(*part * static_cast<double>(length));
      text = fmt::format("[{}{}] {}{}", std::string(full, '='), std::string(length - full, ' '), percentage, text);
    } else {
      text = percentage + text;
    }
  }
  if (text.size() > columns) text.resize(columns);
  return text;
}

void add_progress_option(CLI::App& app, std::string& choice) {
  app.add_option("--progress", choice, "Show progress on standard error: auto (on a terminal), always, never")
      ->capture_default_str()
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

bool progress_wanted(const std::string& choice) {
  if (choice != "auto") return choice == "always";
  const char* terminal = std::getenv("TERM");
  return is_terminal(output_stream::err) && (terminal == nullptr || std::string_view{terminal} != "dumb");
}

}  // namespace tool
