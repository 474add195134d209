// A timer that fires once for each time it is set.
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

class timer_firing;

namespace detail {

struct timer_frame : callback_frame {
  using callback_frame::callback_frame;

  bool rearm = false;
  due_time due = 0;
};

struct timer_context : callback_context {
  using token_type = timer_firing;
  using frame_type = timer_frame;

  timer_context(call_function call, destroy_function destroy, const std::source_location& where) noexcept
      : callback_context(call, destroy, object_kind::timer, "timer::stop_and_drain", where) {}

  native::timer native = nullptr;
  rearm_gate gate;
};

}  // namespace detail

/// One firing of a timer. A callback that takes a `timer_firing&` is given the one of its run.
///
/// It must be used inside that callback, on its thread; anything else is found out, and ends the process with a
/// message.
class timer_firing {
 public:
  timer_firing(const timer_firing&) = delete;
  timer_firing& operator=(const timer_firing&) = delete;

  /// Sets the timer again, when this callback has returned: the duration counts from then, and the next firing does
  /// not overlap this one. The last request of a callback counts. It is carried out before the events of
  /// callback_instance::set_event_when_returns() are set. Durations are as for timer::set_after().
  ///
  /// The request takes the place of whatever the timer is set to by then. It is discarded while the timer is being
  /// drained by timer::stop_and_drain(), a destructor or an assignment.
  template <class Rep, class Period>
  void rearm_after(std::chrono::duration<Rep, Period> duration) noexcept {
    rearm(detail::due_after(duration));
  }

  /// The same with a time of the system's clock, as for timer::set_at().
  template <class Duration>
  void rearm_at(std::chrono::time_point<std::chrono::system_clock, Duration> time) noexcept {
    rearm(detail::due_at(time));
  }

  /// What any callback may ask about, and of, its own run.
  [[nodiscard]] callback_instance& instance() noexcept { return instance_; }

 private:
  friend struct detail::access;

  explicit timer_firing(detail::timer_frame& frame) noexcept
      : instance_(detail::access::token_of<callback_instance>(frame)), frame_(frame) {}

  void rearm(detail::due_time due) noexcept;

  callback_instance instance_;
  detail::timer_frame& frame_;
};

namespace detail {

/// What a timer is made of.
template <class F>
timer_context* make_timer_context(F&& callable, const std::source_location& where) {
  static_assert(serves_as_callback<F, timer_firing>,
                "tidepool: the callback of a timer is called without arguments or with a tidepool::timer_firing&; "
                "this callable can be called with neither");
  check_kept<F>();
  check_not_null<std::decay_t<F>>(callable);
  return new context_with_callable<timer_context, std::decay_t<F>>(std::forward<F>(callable), where);
}

}  // namespace detail

/// A callback that runs once for each time the timer is set, when the time has come, on the threads of a pool. For
/// regular ticks see periodic_timer.
///
/// The callback is any callable that takes no argument or a `timer_firing&`; what it returns is dropped. It may be
/// move-only. Firings that come about by timer_firing::rearm_after() or rearm_at() never overlap. A timer that somebody
/// sets while its callback runs can fire again meanwhile. An exception that leaves the callback ends the process by
/// std::terminate, with its message on the standard error stream.
///
/// A timer never fires early. Durations are monotonic time, which does not count while the system sleeps; points in
/// time follow the system's clock, also when that is set.
///
/// The destructor drains: it lets a firing that is queued run, waits for the callbacks, forgets a due time that has not
/// come, releases the native object, and then destroys the callable, on the calling thread and outside every lock. A
/// callback that re-arms does not keep it from coming to an end.
///
/// An object that is drained by its own callback would wait for itself for ever. stop_and_drain(), wait_for_callbacks()
/// and cancel_pending() throw std::system_error (std::errc::resource_deadlock_would_occur) instead, and a destructor or
/// an assignment that would have to wait ends the process with a message that names the place where the object was
/// created. A callback that has called callback_instance::disassociate() may do all of this.
///
/// Thread safety: any thread may call any member function at any time, the object's own callbacks included, unless the
/// object itself is being assigned, moved or destroyed. What happened before the timer was set is visible to the callback
/// it leads to, and what a callback did is visible to whoever drained it. A moved-from timer can be destroyed and
/// assigned to; any other use of it ends the process with a message.
///
/// Win32: PTP_TIMER, with a period of zero.
class timer {
 public:
  /// Copies or moves `callable` into the object, which is not set yet. `environment` is read now and not kept. `where` is
  /// named in messages about the object; left alone it is the place of the call.
  ///
  /// Throws std::system_error when the system refuses, std::bad_alloc when there is no memory, and what copying or
  /// moving the callable throws. Costs one allocation beside the native object's own. Win32: CreateThreadpoolTimer.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, timer>)
  explicit timer(F&& callable, const callback_environment& environment = {},
                 const std::source_location& where = std::source_location::current())
      : timer(*detail::make_timer_context(std::forward<F>(callable), where), environment) {}

  /// The object takes over the other's callback and due time; running callbacks do not notice.
  timer(timer&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}

  /// Drains what the object held before, as the destructor does.
  timer& operator=(timer&& other) noexcept;

  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Drains; see above. Blocks until queued and running callbacks are over.
  ~timer();

  /// Has the callback run once when `duration` is over, instead of at any due time set before. Rounded up to 100 ns.
  /// Zero, a negative duration or NaN is at once; more than 95 years counts as 95 years.
  ///
  /// A firing that is queued and has not started is dropped. Never fails, throws or allocates. Win32: SetThreadpoolTimer.
  template <class Rep, class Period>
  void set_after(std::chrono::duration<Rep, Period> duration) noexcept {
    set(detail::due_after(duration), 0);
  }

  /// As set_after(), and the callback may come up to `window` later than that, so that the system can save a wake-up by
  /// serving several timers at once. The window is rounded down to whole milliseconds; a negative one or NaN is
  /// none, and more than 24 days counts as 24 days. Win32: the window of SetThreadpoolTimer.
  template <class Rep, class Period, class WindowRep, class WindowPeriod>
  void set_after_with_window(std::chrono::duration<Rep, Period> duration,
                             std::chrono::duration<WindowRep, WindowPeriod> window) noexcept {
    set(detail::due_after(duration), detail::window_length(window));
  }

  /// As set_after(), for when the system's clock shows `time`. Rounded up to 100 ns. A time that has passed, be it
  /// before the year 1601, and NaN is at once; a time after the year 9999 counts as its end.
  template <class Duration>
  void set_at(std::chrono::time_point<std::chrono::system_clock, Duration> time) noexcept {
    set(detail::due_at(time), 0);
  }

  /// Forgets the due time. A firing that is queued and has not started is dropped with it (though Wine runs it). A
  /// callback that is running goes on, and can still re-arm the timer when it returns: stop_and_drain() ends that.
  /// Win32: SetThreadpoolTimer with a null due time.
  void disarm() noexcept;

  /// Whether a due time is set, which is not to say that the timer will fire: a timer that has fired stays set until it
  /// is disarmed or drained. Win32: IsThreadpoolTimerSet.
  [[nodiscard]] bool is_set() const noexcept;

  /// Waits for the callbacks that are queued or running, not for a due time that has not come. A callback that re-arms
  /// the timer with a due time that comes meanwhile prolongs the wait. Throws as described above when called by the
  /// object's own callback. Win32: WaitForThreadpoolTimerCallbacks(…, FALSE).
  void wait_for_callbacks();

  /// Drops a firing that is queued and has not started, and waits for the callbacks that are running. A due time that has
  /// not come stays set. Throws as described above when called by the object's own callback.
  /// Win32: WaitForThreadpoolTimerCallbacks(…, TRUE).
  void cancel_pending();

  /// The synchronous close, under the name that all callback sources share: lets a firing that is queued run, waits for
  /// the callbacks, discards what they ask for by way of re-arming, and forgets the due time. Afterwards nothing of the
  /// object is queued or running, unless another thread has set the timer meanwhile. The timer can be set again, and its
  /// callbacks can re-arm it again. Throws as described above when called by the object's own callback.
  void stop_and_drain();

 private:
  friend struct detail::access;

  /// Takes over the context, also when it throws.
  timer(detail::timer_context& context, const callback_environment& environment);

  void set(detail::due_time due, std::uint32_t window) noexcept;

  detail::timer_context* context_;
};

}  // namespace tidepool
