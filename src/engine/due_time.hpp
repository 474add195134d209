// The times that timers and waits are set to.
#pragma once

#include "engine/poller.hpp"
#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

/// A FILETIME as SetThreadpoolTimer and SetThreadpoolWait read it, in units of 100 ns.
struct due_time {
  bool relative;
  bool at_once;               // zero, or past
  std::uint64_t nanoseconds;  // from now, or since 1970

  static due_time read(const FILETIME& from) noexcept {
    constexpr std::int64_t unix_epoch = 116'444'736'000'000'000;  // since 1601
    constexpr std::int64_t most = INT64_MAX / 100;
    const auto ticks =
        static_cast<std::int64_t>(std::uint64_t{from.dwHighDateTime} << 32 | std::uint64_t{from.dwLowDateTime});
    if (ticks <= 0) {
      const std::int64_t later = ticks < -most ? most : -ticks;
      return {true, ticks == 0, static_cast<std::uint64_t>(later) * 100};
    }
    if (ticks <= unix_epoch) {
      return {false, true, 0};
    }
    const std::int64_t since = ticks - unix_epoch < most ? ticks - unix_epoch : most;
    const std::uint64_t moment = static_cast<std::uint64_t>(since) * 100;
    return {false, moment <= poller::instance().timers.now(clock_kind::wall), moment};
  }

  /// Arms an action for what is not at once.
  void arm(timed_action& action, std::uint64_t window = 0) const noexcept {
    timer_service& timers = poller::instance().timers;
    if (relative) {
      timers.arm_after(action, nanoseconds, window);
    } else {
      timers.arm(action, clock_kind::wall, timer_service::choose(nanoseconds, window));
    }
  }
};

}  // namespace tidepool::engine
