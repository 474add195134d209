// The end of a wait that may time out.
#pragma once

#include <cstdint>
#include <ctime>

#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

/// A moment of the monotonic clock, computed once, so that a wait which is interrupted does not start anew.
class deadline {
 public:
  /// `milliseconds` from now; INFINITE is never.
  explicit deadline(DWORD milliseconds) noexcept
      : nanoseconds_(milliseconds == INFINITE ? never : now() + std::int64_t{milliseconds} * 1'000'000) {}

  [[nodiscard]] bool is_never() const noexcept { return nanoseconds_ == never; }

  /// The time left; false when there is none. Not to be asked of one that is never.
  [[nodiscard]] bool remaining(timespec& left) const noexcept {
    const std::int64_t difference = nanoseconds_ - now();
    if (difference <= 0) {
      return false;
    }
    left = split(difference);
    return true;
  }

  /// The moment itself, for calls that take an absolute time.
  [[nodiscard]] timespec moment() const noexcept { return split(nanoseconds_); }

 private:
  static constexpr std::int64_t never = INT64_MAX;

  static std::int64_t now() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }

  static timespec split(std::int64_t nanoseconds) noexcept {
    return {static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
  }

  std::int64_t nanoseconds_;
};

}  // namespace tidepool::engine
