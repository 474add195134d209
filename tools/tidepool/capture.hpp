#pragma once

// A capture of tidepool's trace, read from its text. The format is described in docs/reference/trace.md.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct capture_record {
  std::int64_t time = 0;  ///< nanoseconds since the moment 0
  std::uint64_t thread = 0;
  std::string_view kind;
  std::uint64_t target = 0;
  std::string_view action;
  std::string_view values;  ///< the rest of the line, as it stands there

  bool is(std::string_view some_kind, std::string_view some_action) const noexcept {
    return kind == some_kind && action == some_action;
  }
  /// The value of this name, if the record has it.
  std::optional<std::string_view> value(std::string_view name) const noexcept;
  /// The same as a number; nothing when it is none.
  std::optional<std::int64_t> number(std::string_view name) const noexcept;
  std::optional<std::uint64_t> address(std::string_view name) const noexcept;
};

/// What is in a capture. What is wrong with it is in `problems`; everything else is what could be read all the same.
struct capture {
  capture() = default;
  capture(capture&&) = default;  // the views into the text survive a move of its buffer, not a copy
  capture& operator=(capture&&) = default;

  std::string process;  ///< the program, as the process called itself
  std::uint64_t process_number = 0;
  std::string system;
  std::string began;  ///< seconds since 1970, UTC
  std::string categories;
  std::string ignored;      ///< categories that were asked for and are unknown
  bool unobserved = false;  ///< exceptions were asked for, and nothing observed them
  std::uint64_t lost = 0;
  std::map<std::uint64_t, std::string> threads;  ///< the names of those that the capture lists
  std::vector<capture_record> records;           ///< in the order of time

  std::vector<std::string> problems;  ///< why this is not a whole and sound capture, in words
  std::vector<char> text;             ///< what the records point into
};

/// Reads a capture. A text whose first line is not a capture's, or whose version is unknown, is refused: the result is
/// empty, and `refusal` says why.
std::optional<capture> read_capture(std::vector<char> text, std::string& refusal);

/// Why a text that begins like this is refused, or nothing. Some kilobytes of the beginning are enough.
std::optional<std::string> refusal_of(std::string_view beginning);

}  // namespace tool
