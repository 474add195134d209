// Durations and points in time as the native functions take them.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace tidepool::detail {

/// A FILETIME as one number: negative is relative, in steps of 100 ns; zero is at once; positive is absolute, in such
/// steps since 1601.
using due_time = std::int64_t;

using file_time_steps = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

/// Some 95 years, in seconds. Longer is for ever.
inline constexpr double for_ever = 3e9;

/// A time-out that never comes.
inline constexpr due_time without_end = std::numeric_limits<due_time>::min();

/// The smallest number of steps that is not less than `duration`, which is in range.
template <class Rep, class Period>
constexpr std::int64_t steps_in(std::chrono::duration<Rep, Period> duration) noexcept {
  if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {  // the least precise ones would round down on the way
    return std::chrono::ceil<file_time_steps>(std::chrono::duration<double, Period>(duration)).count();
  } else {
    return std::chrono::ceil<file_time_steps>(duration).count();
  }
}

/// That long from now. Rounded up, so that nothing fires early. Zero, a negative duration or NaN is at once; what is
/// longer than for_ever counts as for_ever, which no clock overflows with.
template <class Rep, class Period>
constexpr due_time due_after(std::chrono::duration<Rep, Period> duration) noexcept {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (!(seconds > 0)) {
    return 0;
  }
  constexpr due_time latest = -static_cast<due_time>(for_ever) * file_time_steps::period::den;
  return seconds > for_ever ? latest : -steps_in(duration);
}

/// The same for a time-out, which has a way to say for ever.
template <class Rep, class Period>
constexpr due_time time_out_after(std::chrono::duration<Rep, Period> duration) noexcept {
  return std::chrono::duration<double>(duration).count() > for_ever ? without_end : due_after(duration);
}

/// At that time of the system's clock. Rounded up. A time before 1601, which a FILETIME can not express, is past, and
/// so at once; the year 10000 is the last there is.
template <class Duration>
constexpr due_time due_at(std::chrono::time_point<std::chrono::system_clock, Duration> time) noexcept {
  constexpr double year_1601 = -11'644'473'600.0;  // in seconds since 1970, from where the clock counts
  constexpr double year_10000 = 253'402'300'800.0;
  const double seconds = std::chrono::duration<double>(time.time_since_epoch()).count();
  if (!(seconds > year_1601)) {
    return 0;
  }
  constexpr due_time year_1970 = -static_cast<due_time>(year_1601) * file_time_steps::period::den;
  constexpr due_time latest = static_cast<due_time>(year_10000) * file_time_steps::period::den + year_1970;
  return seconds > year_10000 ? latest : steps_in(time.time_since_epoch()) + year_1970;
}

/// How much later than its due time something may happen, in milliseconds. Rounded down, so that it does not happen
/// later than that; a negative duration or NaN is zero. More than the native type's 24 days counts as that.
template <class Rep, class Period>
constexpr std::uint32_t window_length(std::chrono::duration<Rep, Period> duration) noexcept {
  constexpr std::uint32_t longest = std::numeric_limits<std::int32_t>::max();
  const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
  if (!(milliseconds >= 1)) {
    return 0;
  }
  return milliseconds >= longest ? longest : static_cast<std::uint32_t>(milliseconds);
}

[[noreturn]] void throw_bad_period();

/// A timer's period in milliseconds, rounded up to whole ones. Throws std::system_error (std::errc::invalid_argument)
/// when it is shorter than a millisecond, longer than 2^32 - 1 of them, or NaN.
template <class Rep, class Period>
std::uint32_t period_length(std::chrono::duration<Rep, Period> duration) {
  constexpr double longest = std::numeric_limits<std::uint32_t>::max();
  const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
  if (!(milliseconds >= 1 && milliseconds <= longest)) {
    throw_bad_period();
  }
  const auto whole = static_cast<std::uint64_t>(milliseconds);
  const std::uint64_t rounded_up = whole + (static_cast<double>(whole) < milliseconds ? 1 : 0);
  return static_cast<std::uint32_t>(rounded_up);  // in range: `longest` is a whole number
}

}  // namespace tidepool::detail
