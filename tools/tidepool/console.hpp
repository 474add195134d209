#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "standard_streams.hpp"

namespace tool {

/// Results on standard output, messages and a progress line on standard error, kept apart when both are one terminal:
/// the progress line stands below everything else and is erased before anything is written. For one thread.
class console {
 public:
  /// Messages begin with this and a colon, for example "tidepool sum".
  explicit console(std::string name) : name_{std::move(name)} {}
  console(const console&) = delete;
  console& operator=(const console&) = delete;
  ~console();

  /// Appends to the results. They reach standard output with the next flush, at the latest.
  void result(std::string_view text);

  /// Writes out the results so far. Once writing has failed, further results are dropped.
  void flush();

  /// The first failure to write results.
  std::error_code output_error() const noexcept { return output_error_; }

  /// A line on standard error. Nobody is left to tell when that fails.
  void message(std::string_view text);

  /// Shows the line in place of the one drawn before.
  void draw(const std::string& line);
  void erase();

 private:
  std::string name_;
  std::string results_;
  std::error_code output_error_;
  std::size_t drawn_ = 0;  // columns of the progress line that stands on the terminal
};

}  // namespace tool
