#include "capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sum_line.hpp"

namespace tool {
namespace {

constexpr std::string_view first_words = "tidepool capture ";
constexpr std::string_view version = "1";

// A hundred days. What is beyond is damage, and would leave everything else in one pixel. Also a number that JavaScript
// still holds exactly.
constexpr std::int64_t latest = std::int64_t{1} << 53;

constexpr std::size_t lines_named = 5;

std::string_view without_carriage_return(std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Takes the first line off the text. Its end, a line feed, may be missing.
std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return without_carriage_return(line);
}

std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t length = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(std::min(length + 1, line.size()));
  return word;
}

template <typename Number>
std::optional<Number> parsed(std::string_view text, int base) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) noexcept {
  if (!text.starts_with("0x")) return std::nullopt;
  return parsed<std::uint64_t>(text.substr(2), 16);
}

bool is_name(std::string_view text) noexcept {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), belongs);
}

/// The values that run to the end of the line.
bool is_last(std::string_view name) noexcept { return name == "site" || name == "type"; }

struct named_value {
  std::string_view name, value;
};

std::optional<named_value> take_value(std::string_view& rest) noexcept {
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos || !is_name(rest.substr(0, equals))) return std::nullopt;
  named_value found{rest.substr(0, equals), {}};
  rest.remove_prefix(equals + 1);
  found.value = is_last(found.name) ? std::exchange(rest, {}) : take_word(rest);
  return found;
}

std::optional<capture_record> record_of(std::string_view line) noexcept {
  const auto time = parsed<std::int64_t>(take_word(line), 10);
  const auto thread = parsed<std::uint64_t>(take_word(line), 10);
  const std::string_view kind = take_word(line);
  const auto target = hexadecimal(take_word(line));
  const std::string_view action = take_word(line);
  if (!time || *time < 0 || *time > latest || !thread || !is_name(kind) || !target || !is_name(action)) return {};
  for (std::string_view rest = line; !rest.empty();) {
    if (!take_value(rest)) return std::nullopt;
  }
  return capture_record{*time, *thread, kind, *target, action, line};
}

/// One reading of a text, whose first line has been looked at.
class reading {
 public:
  explicit reading(capture& result) : result_{result}, rest_{result.text.data(), result.text.size()} {}

  void run() {
    take_line(rest_);
    bool in_records = false;
    bool ended = false;
    for (line_number_ = 2; !rest_.empty() && !ended; ++line_number_) {
      const bool whole = rest_.find('\n') != std::string_view::npos;
      const std::string_view line = take_line(rest_);
      if (line == "end") {
        ended = true;
      } else if (!whole) {
        break;  // half a line: its last value may be half a value
      } else if (in_records) {
        add_record(line);
      } else if (line == "records") {
        in_records = true;
      } else {
        add_fact(line);
      }
    }
    judge(ended);
  }

 private:
  void add_fact(std::string_view line) {
    const std::string_view name = take_word(line);
    if (name == "process") {
      result_.process_number = parsed<std::uint64_t>(take_word(line), 10).value_or(0);
      result_.process = line;
    } else if (name == "system") {
      result_.system = line;
    } else if (name == "began") {
      result_.began = line;
    } else if (name == "categories") {
      result_.categories = line;
    } else if (name == "ignored") {
      result_.ignored = line;
    } else if (name == "observer") {
      result_.unobserved = line == "absent";
    } else if (name == "held") {
      held_ = parsed<std::uint64_t>(line, 10);
    } else if (name == "lost") {
      result_.lost = parsed<std::uint64_t>(line, 10).value_or(0);
    } else if (name == "thread") {
      if (const auto number = parsed<std::uint64_t>(take_word(line), 10)) result_.threads[*number] = line;
    } else if (!is_name(name)) {
      note_damage();
    }
  }

  void add_record(std::string_view line) {
    const auto record = record_of(line);
    if (!record) return note_damage();
    if (!result_.records.empty() && record->time < newest_) ++out_of_order_;
    newest_ = std::max(newest_, record->time);
    result_.records.push_back(*record);
  }

  void note_damage() {
    ++damaged_;
    if (damaged_ <= lines_named) damaged_lines_ += fmt::format("{}{}", damaged_ == 1 ? "" : ", ", line_number_);
  }

  void judge(bool ended) {
    std::vector<std::string>& problems = result_.problems;
    if (!ended) problems.emplace_back("The capture is cut off: its last line, \"end\", is missing.");
    if (ended && !rest_.empty()) problems.emplace_back("Something follows the capture's end; it is left out.");
    if (damaged_ > 0) {
      problems.push_back(fmt::format("{} ({}{}).",
                                     damaged_ == 1 ? "A line makes no sense and is left out"
                                                   : fmt::format("{} lines make no sense and are left out", damaged_),
                                     damaged_ == 1 ? "line " + damaged_lines_ : "lines " + damaged_lines_,
                                     damaged_ > lines_named ? ", …" : ""));
    }
    if (held_ && *held_ != result_.records.size()) {
      problems.push_back(fmt::format("The capture announces {} record{}, and {} could be read.", *held_,
                                     *held_ == 1 ? "" : "s", result_.records.size()));
    }
    if (out_of_order_ > 0) {
      const auto place = [](const capture_record& record) { return std::pair{record.time, record.kind.data()}; };
      std::sort(result_.records.begin(), result_.records.end(),
                [&](const capture_record& one, const capture_record& other) { return place(one) < place(other); });
      problems.push_back(fmt::format("{} record{} not in the order of time; they have been put into it.", out_of_order_,
                                     out_of_order_ == 1 ? " is" : "s are"));
    }
  }

  capture& result_;
  std::string_view rest_;
  std::size_t line_number_ = 0;
  std::optional<std::uint64_t> held_;
  std::int64_t newest_ = 0;
  std::size_t out_of_order_ = 0;
  std::size_t damaged_ = 0;
  std::string damaged_lines_;
};

}  // namespace

std::optional<std::string_view> capture_record::value(std::string_view name) const noexcept {
  for (std::string_view rest = values; !rest.empty();) {
    const auto found = take_value(rest);
    if (!found) break;
    if (found->name == name) return found->value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> capture_record::number(std::string_view name) const noexcept {
  const auto text = value(name);
  return text ? parsed<std::int64_t>(*text, 10) : std::nullopt;
}

std::optional<std::uint64_t> capture_record::address(std::string_view name) const noexcept {
  const auto text = value(name);
  return text ? hexadecimal(*text) : std::nullopt;
}

std::optional<std::string> refusal_of(std::string_view beginning) {
  const std::string_view line = take_line(beginning);
  if (!line.starts_with(first_words)) {
    return line.empty() && beginning.empty() ? "is empty, and so no capture"
                                             : "is not a capture: its first line is not \"tidepool capture 1\"";
  }
  const std::string_view found = line.substr(first_words.size());
  if (found != version) {
    return fmt::format("is a capture of version {}; this tidepool reads version {}", printable(found.substr(0, 20)),
                       version);
  }
  return std::nullopt;
}

std::optional<capture> read_capture(std::vector<char> text, std::string& refusal) {
  if (auto reason = refusal_of({text.data(), text.size()})) {
    refusal = std::move(*reason);
    return std::nullopt;
  }
  capture result;
  result.text = std::move(text);
  reading{result}.run();
  return result;
}

}  // namespace tool
