// A timer that ticks.
#pragma once

#include <chrono>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/detail/callback_context.hpp"
#include "tidepool/detail/due_time.hpp"
#include "tidepool/detail/rearm_gate.hpp"
#include "tidepool/native.hpp"

namespace tidepool {

class periodic_tick;

namespace detail {

struct periodic_timer_context : callback_context {
  using token_type = periodic_tick;
  using frame_type = callback_frame;

  periodic_timer_context(call_function call, destroy_function destroy, const std::source_location& where) noexcept
      : callback_context(call, destroy, object_kind::periodic_timer, "periodic_timer::stop_and_drain", where) {}

  native::timer native = nullptr;
  rearm_gate gate;
  std::uint32_t period = 0;  // in milliseconds
};

}  // namespace detail

/// One tick of a periodic timer. A callback that takes a `periodic_tick&` is given the one of its run.
///
/// It must be used inside that callback, on its thread; anything else is found out, and ends the process with a
/// message.
class periodic_tick {
 public:
  periodic_tick(const periodic_tick&) = delete;
  periodic_tick& operator=(const periodic_tick&) = delete;

  /// Stops the timer now, as periodic_timer::stop() does: ticks that are already running go on. Safe also after
  /// callback_instance::disassociate(), when the timer itself may be gone: then nothing happens.
  void stop() noexcept;

  /// What any callback may ask about, and of, its own run.
  [[nodiscard]] callback_instance& instance() noexcept { return instance_; }

 private:
  friend struct detail::access;

  explicit periodic_tick(detail::callback_frame& frame) noexcept
      : instance_(detail::access::token_of<callback_instance>(frame)), frame_(frame) {}

  callback_instance instance_;
  detail::callback_frame& frame_;
};

namespace detail {

/// What a periodic_timer is made of.
template <class F>
periodic_timer_context* make_periodic_timer_context(std::uint32_t period, F&& callable,
                                                    const std::source_location& where) {
  static_assert(serves_as_callback<F, periodic_tick>,
                "tidepool: the callback of a periodic_timer is called without arguments or with a "
                "tidepool::periodic_tick&; this callable can be called with neither");
  check_kept<F>();
  check_not_null<std::decay_t<F>>(callable);
  auto* const made =
      new context_with_callable<periodic_timer_context, std::decay_t<F>>(std::forward<F>(callable), where);
  made->period = period;
  return made;
}

}  // namespace detail

/// A callback that runs again and again, on the threads of a pool. For a delay between the end of one run and the next see
/// timer.
///
/// The callback is any callable that takes no argument or a `periodic_tick&`; what it returns is dropped. It may be
/// move-only. **Ticks can overlap**: the next one is queued when its time has come, whether or not the last has
/// returned, and runs at once if the pool has a thread for it. So a callable with state of its own has to protect it. Ticks
/// whose callback could not start before the next was due need not be made up for. An exception that leaves the callback
/// ends the process by std::terminate, with its message on the standard error stream.
///
/// Ticks do not come early. Once started, a timer follows the monotonic clock.
///
/// The destructor drains: it lets a tick that is queued run (of several that have piled up in a busy pool, at least the
/// first), stops the timer, waits for the callbacks, releases the native object, and then destroys the callable, on
/// the calling thread and outside every lock. It comes to an end also when the callback takes longer than the period.
///
/// An object that is drained by its own callback would wait for itself for ever. stop_and_drain(), wait_for_callbacks()
/// and cancel_pending() throw std::system_error (std::errc::resource_deadlock_would_occur) instead, and a destructor or
/// an assignment that would have to wait ends the process with a message that names the place where the object was
/// created. A callback that has called callback_instance::disassociate() may do all of this.
///
/// Thread safety: any thread may call any member function at any time, the object's own callbacks included, unless the
/// object itself is being assigned, moved or destroyed. What happened before the timer was started is visible to its
/// callbacks, and what a callback did is visible to whoever drained it. A moved-from timer can be destroyed and assigned
/// to; any other use of it ends the process with a message.
///
/// Win32: PTP_TIMER, with a period.
class periodic_timer {
 public:
  /// Copies or moves `callable` into the object, which is not running yet. `environment` is read now and not kept.
  /// `where` is named in messages about the object; left alone it is the place of the call.
  ///
  /// `period` is rounded up to whole milliseconds. Throws std::system_error (std::errc::invalid_argument) when it is
  /// shorter than one millisecond, longer than 2^32 - 1 of them (49 days), or NaN; std::system_error when the system
  /// refuses, std::bad_alloc when there is no memory, and what copying or moving the callable throws. Costs one
  /// allocation beside the native object's own. Win32: CreateThreadpoolTimer.
  template <class Rep, class Period, class F>
  periodic_timer(std::chrono::duration<Rep, Period> period, F&& callable, const callback_environment& environment = {},
                 const std::source_location& where = std::source_location::current())
      : periodic_timer(
            *detail::make_periodic_timer_context(detail::period_length(period), std::forward<F>(callable), where),
            environment) {}

  /// The object takes over the other's callback and ticks; running callbacks do not notice.
  periodic_timer(periodic_timer&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}

  /// Drains what the object held before, as the destructor does.
  periodic_timer& operator=(periodic_timer&& other) noexcept;

  periodic_timer(const periodic_timer&) = delete;
  periodic_timer& operator=(const periodic_timer&) = delete;

  /// Drains; see above. Blocks until queued and running callbacks are over.
  ~periodic_timer();

  /// The first tick comes after one period, and then one every period. A timer that is running starts anew; a tick that is
  /// queued and has not started is dropped. Never fails, throws or allocates. Win32: SetThreadpoolTimer.
  void start() noexcept;

  /// As start(), with the first tick after `duration`. Rounded up to 100 ns. Zero, a negative duration or NaN is at once;
  /// more than 95 years counts as 95 years.
  template <class Rep, class Period>
  void start_after(std::chrono::duration<Rep, Period> duration) noexcept {
    start(detail::due_after(duration), 0);
  }

  /// As start(), with the first tick when the system's clock shows `time`. Rounded up to 100 ns. A time that has passed,
  /// be it before the year 1601, and NaN is at once, and what was missed is not made up for; a time after the year 9999
  /// counts as its end.
  template <class Duration>
  void start_at(std::chrono::time_point<std::chrono::system_clock, Duration> time) noexcept {
    start(detail::due_at(time), 0);
  }

  /// As start(), and each tick may come up to `window` later than its time, so that the system can save a wake-up by
  /// serving several timers at once. The window is rounded down to whole milliseconds; a negative one or NaN is
  /// none, and more than 24 days counts as 24 days. Win32: the window of SetThreadpoolTimer.
  template <class Rep, class Period>
  void start_with_window(std::chrono::duration<Rep, Period> window) noexcept {
    start(detail::due_after(period()), detail::window_length(window));
  }

  /// No further tick is queued; one that is queued and has not started is dropped (though Wine runs it). Ticks that are
  /// running go on: stop_and_drain() waits for them. Win32: SetThreadpoolTimer with a null due time.
  void stop() noexcept;

  /// Whether the timer has been started, and neither stopped nor drained since. Win32: IsThreadpoolTimerSet.
  [[nodiscard]] bool is_running() const noexcept;

  /// The period, as it has been rounded.
  [[nodiscard]] std::chrono::milliseconds period() const noexcept;

  /// Waits until at some moment no tick is queued or running. While the timer runs and its callback takes longer than the
  /// period there may be no such moment. Throws as described above when called by the object's own callback.
  /// Win32: WaitForThreadpoolTimerCallbacks(…, FALSE).
  void wait_for_callbacks();

  /// Drops a tick that is queued and has not started, and waits for those that are running. The timer goes on. Throws as
  /// described above when called by the object's own callback. Win32: WaitForThreadpoolTimerCallbacks(…, TRUE).
  void cancel_pending();

  /// The synchronous close, under the name that all callback sources share: does what the destructor does, up to the
  /// release. Afterwards nothing of the object is queued or running, unless another thread has started the timer
  /// meanwhile; a callback of it that wants to start it during the drain does so in vain. The timer can be started again.
  /// Throws as described above when called by the object's own callback.
  void stop_and_drain();

 private:
  friend struct detail::access;

  /// Takes over the context, also when it throws.
  periodic_timer(detail::periodic_timer_context& context, const callback_environment& environment);

  void start(detail::due_time due, std::uint32_t window) noexcept;

  detail::periodic_timer_context* context_;
};

}  // namespace tidepool
