// A trace from its beginning to the capture.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidepool::recorder {

/// Begins the trace, if that has not been done, and records these categories from now on.
void enable(std::uint32_t categories);

/// What is known of the trace as a whole.
struct session {
  std::chrono::steady_clock::time_point began;
  std::chrono::system_clock::time_point began_by_calendar;
  std::string ignored;  // names in TIDEPOOL_TRACE that mean nothing
};
[[nodiscard]] const session& current_session();

/// The categories of a list with commas. Adds the names that mean nothing to `unknown`, with commas.
[[nodiscard]] std::uint32_t parse_categories(std::string_view list, std::string& unknown);

}  // namespace tidepool::recorder
