// Everything that is to happen at a moment of a clock.
#pragma once

#include <cstdint>
#include <mutex>

#include "engine/dispatcher_object.hpp"
#include "engine/futex_lock.hpp"
#include "engine/timer_wheel.hpp"

namespace tidepool::engine {

enum class clock_kind : std::uint8_t {
  monotonic,  // nanoseconds since some moment; does not count the time that the system sleeps
  wall,       // nanoseconds since 1970 in UTC; may be set
};
inline constexpr std::size_t clock_count = 2;

/// Part of what waits for a moment.
struct timed_action : timer_node {
  /// Called once the moment has come, with the service's lock held, no longer linked: takes no other lock, defers
  /// the rest. Returns the moment of the same clock to wait for next, later than `now`, or timer_wheel::never.
  using function = std::uint64_t (*)(timed_action&, std::uint64_t now, deferred_actions& later) noexcept;

  explicit timed_action(function what) noexcept : come(what) {}

  const function come;
  clock_kind clock = clock_kind::monotonic;  // guarded by the service's lock
};

/// The clocks, and an alarm for each. Called with the service's lock held.
class alarm_clock {
 public:
  alarm_clock() = default;
  alarm_clock(const alarm_clock&) = delete;
  alarm_clock& operator=(const alarm_clock&) = delete;

  [[nodiscard]] virtual std::uint64_t now(clock_kind of) const noexcept = 0;
  /// timer_service::expire(of) is to be called at `moment`, or soon after. Replaces the alarm before.
  virtual void set(clock_kind of, std::uint64_t moment) noexcept = 0;
  /// There is something to wait for on the clock, as opposed to nothing; and the reverse.
  virtual void begin(clock_kind of) noexcept = 0;
  virtual void end(clock_kind of) noexcept = 0;

 protected:
  ~alarm_clock() = default;
};

/// Its lock comes after those of dispatcher objects; nothing is locked inside it.
class timer_service {
 public:
  explicit timer_service(alarm_clock& by) noexcept : alarm_(by) {}

  /// Lets `action` come at `moment`, or at once when that has passed, in place of the moment it waited for before.
  /// Returns whether it did wait for one.
  bool arm(timed_action& action, clock_kind clock, std::uint64_t moment) noexcept;
  /// The same, `nanoseconds` from now on the monotonic clock, plus up to `window` if that lets actions come together.
  bool arm_after(timed_action& action, std::uint64_t nanoseconds, std::uint64_t window = 0) noexcept;
  /// Returns whether the action waited for a moment. After the return it does not come.
  bool disarm(timed_action& action) noexcept;

  /// What came of an attempt.
  enum class attempt : std::uint8_t { refused, done, replaced };
  /// arm_after() if `may()`, which is called with the lock held and may change what the lock guards, and if something
  /// else waits on the clock, so that it is served already. Afterwards nothing is touched that a callback could free.
  template <class May>
  attempt try_arm_after(timed_action& action, std::uint64_t nanoseconds, std::uint64_t window, May may) noexcept {
    const std::uint64_t now = alarm_.now(clock_kind::monotonic);
    const std::lock_guard guard(lock_);
    if (clocks_[static_cast<std::size_t>(clock_kind::monotonic)].wheel.size() == 0 || !may()) {
      return attempt::refused;
    }
    return arm_at(action, now, nanoseconds, window) ? attempt::replaced : attempt::done;
  }
  /// disarm() if `may()`, as above.
  template <class May>
  attempt try_disarm(timed_action& action, May may) noexcept {
    const std::lock_guard guard(lock_);
    if (!may()) {
      return attempt::refused;
    }
    return remove(action) ? attempt::replaced : attempt::done;
  }

  /// Lets come what is due on the clock. Afterwards the caller runs `later`.
  void expire(clock_kind clock, deferred_actions& later) noexcept;

  [[nodiscard]] std::uint64_t now(clock_kind clock) const noexcept { return alarm_.now(clock); }

  /// The roundest moment from `earliest` to `window` later, so that actions with windows tend to meet.
  static std::uint64_t choose(std::uint64_t earliest, std::uint64_t window) noexcept;

 private:
  void insert(timed_action& action, clock_kind clock, std::uint64_t moment, std::uint64_t now) noexcept;
  bool remove(timed_action& action) noexcept;
  bool arm_at(timed_action& action, std::uint64_t now, std::uint64_t nanoseconds, std::uint64_t window) noexcept;

  futex_lock lock_;
  alarm_clock& alarm_;
  struct {
    timer_wheel wheel;
    std::uint64_t alarm = timer_wheel::never;  // for when it is set; may be earlier than anything that waits
  } clocks_[clock_count];
};

/// The sum, or the latest moment there is before `never`.
constexpr std::uint64_t later_by(std::uint64_t moment, std::uint64_t nanoseconds) noexcept {
  return nanoseconds < timer_wheel::never - 1 - moment ? moment + nanoseconds : timer_wheel::never - 1;
}

}  // namespace tidepool::engine
