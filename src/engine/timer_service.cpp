#include "engine/timer_service.hpp"

#include <algorithm>
#include <bit>

#include "engine/fork.hpp"

namespace tidepool::engine {

std::uint64_t timer_service::choose(std::uint64_t earliest, std::uint64_t window) noexcept {
  if (window == 0 || earliest == 0) {
    return earliest;
  }
  // The highest bit in which the moment before the window differs from its end becomes the last one that is set.
  const std::uint64_t latest = later_by(earliest, window);
  const unsigned bit = 63u - static_cast<unsigned>(std::countl_zero((earliest - 1) ^ latest));
  return latest >> bit << bit;
}

void timer_service::insert(timed_action& action, clock_kind clock, std::uint64_t moment, std::uint64_t now) noexcept {
  require_threads();
  auto& its = clocks_[static_cast<std::size_t>(clock)];
  if (its.wheel.size() == 0) {
    alarm_.begin(clock);
  }
  action.clock = clock;
  its.wheel.insert(action, moment, now);
  if (moment < its.alarm) {
    its.alarm = moment;
    alarm_.set(clock, moment);
  }
}

bool timer_service::remove(timed_action& action) noexcept {
  if (!action.is_linked()) {
    return false;
  }
  auto& its = clocks_[static_cast<std::size_t>(action.clock)];
  its.wheel.remove(action);  // the alarm stays: one in vain costs less than setting it each time
  if (its.wheel.size() == 0) {
    alarm_.end(action.clock);
  }
  return true;
}

bool timer_service::arm(timed_action& action, clock_kind clock, std::uint64_t moment) noexcept {
  const std::lock_guard guard(lock_);
  const bool waited = remove(action);
  insert(action, clock, moment, alarm_.now(clock));
  return waited;
}

bool timer_service::arm_after(timed_action& action, std::uint64_t nanoseconds, std::uint64_t window) noexcept {
  const std::uint64_t now = alarm_.now(clock_kind::monotonic);  // takes longer than all the rest
  const std::lock_guard guard(lock_);
  return arm_at(action, now, nanoseconds, window);
}

bool timer_service::arm_at(timed_action& action, std::uint64_t now, std::uint64_t nanoseconds,
                           std::uint64_t window) noexcept {
  const bool waited = remove(action);
  // Others may have moved the wheel on since; this clock is never set back.
  const std::uint64_t base = clocks_[static_cast<std::size_t>(clock_kind::monotonic)].wheel.base();
  insert(action, clock_kind::monotonic, choose(later_by(now, nanoseconds), window), std::max(now, base));
  return waited;
}

bool timer_service::disarm(timed_action& action) noexcept {
  const std::lock_guard guard(lock_);
  return remove(action);
}

void timer_service::expire(clock_kind clock, deferred_actions& later) noexcept {
  const std::lock_guard guard(lock_);
  auto& its = clocks_[static_cast<std::size_t>(clock)];
  const std::size_t before = its.wheel.size();
  const std::uint64_t now = alarm_.now(clock);
  its.wheel.expire(now, [&](timer_node& node) {
    auto& action = static_cast<timed_action&>(node);
    const std::uint64_t next = action.come(action, now, later);
    if (next != timer_wheel::never) {
      its.wheel.insert(action, next, now);
    }
  });
  if (before != 0 && its.wheel.size() == 0) {
    alarm_.end(clock);
  }
  its.alarm = its.wheel.next();
  if (its.alarm != timer_wheel::never) {
    alarm_.set(clock, its.alarm);
  }
}

}  // namespace tidepool::engine
