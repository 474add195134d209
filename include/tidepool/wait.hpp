// A callback that runs when an object is signalled.
#pragma once

#include <chrono>
#include <source_location>
#include <utility>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/detail/callback_context.hpp"
#include "tidepool/detail/due_time.hpp"
#include "tidepool/detail/healing.hpp"
#include "tidepool/detail/rearm_gate.hpp"
#include "tidepool/native.hpp"
#include "tidepool/waitable_handle.hpp"

namespace tidepool {

class wait_activation;

/// How a wait came to its end.
enum class wait_result { signalled, timed_out };

namespace detail {

struct wait_frame : callback_frame {
  wait_frame(native::callback_instance of, callback_context* object, wait_result how) noexcept
      : callback_frame(of, object), result(how) {}

  const wait_result result;
  bool rearm = false;
  due_time time_out = without_end;
};

struct wait_context : callback_context {
  using token_type = wait_activation;
  using frame_type = wait_frame;

  wait_context(waitable_handle&& object, call_function call, destroy_function destroy,
               const std::source_location& where) noexcept
      : callback_context(call, destroy, object_kind::wait, "wait::stop_and_drain", where), handle(std::move(object)) {}

  native::wait native = nullptr;
  rearm_gate gate;
#ifdef _MSC_VER
  [[msvc::no_unique_address]]
#else
  [[no_unique_address]]
#endif
  healing repair;
  const waitable_handle handle;  // destroyed after the callable, which is a derived class's
};

}  // namespace detail

/// One activation of a wait. A callback that takes a `wait_activation&` is given the one of its run.
///
/// It must be used inside that callback, on its thread; anything else is found out, and ends the process with a
/// message.
class wait_activation {
 public:
  wait_activation(const wait_activation&) = delete;
  wait_activation& operator=(const wait_activation&) = delete;

  /// Whether the object was signalled, or the time was over.
  [[nodiscard]] wait_result result() const noexcept;

  /// Arms the wait again, without a time-out, when this callback has returned, so that the next activation does not
  /// overlap this one. The last request of a callback counts. It is carried out before the events of
  /// callback_instance::set_event_when_returns() are set.
  ///
  /// The request takes the place of whatever the wait is armed with by then. It is discarded while the wait is being
  /// drained by wait::stop_and_drain(), a destructor or an assignment.
  void rearm() noexcept { rearm_until(detail::without_end); }

  /// The same with a time-out, which begins when the callback has returned. Durations are as for wait::arm().
  template <class Rep, class Period>
  void rearm(std::chrono::duration<Rep, Period> time_out) noexcept {
    rearm_until(detail::time_out_after(time_out));
  }

  /// What any callback may ask about, and of, its own run.
  [[nodiscard]] callback_instance& instance() noexcept { return instance_; }

 private:
  friend struct detail::access;

  explicit wait_activation(detail::wait_frame& frame) noexcept
      : instance_(detail::access::token_of<callback_instance>(frame)), frame_(frame) {}

  void rearm_until(detail::due_time time_out) noexcept;

  callback_instance instance_;
  detail::wait_frame& frame_;
};

namespace detail {

/// What a wait is made of.
template <class F>
wait_context* make_wait_context(waitable_handle&& what, F&& callable, const std::source_location& where) {
  static_assert(serves_as_callback<F, wait_activation>,
                "tidepool: the callback of a wait is called without arguments or with a tidepool::wait_activation&; "
                "this callable can be called with neither");
  check_kept<F>();
  check_not_null<std::decay_t<F>>(callable);
  return new context_with_callable<wait_context, std::decay_t<F>>(std::forward<F>(callable), where, std::move(what));
}

}  // namespace detail

/// A callback that runs when an object is signalled or a time is over, on the threads of a pool; until then it takes no
/// thread. One arming leads to one activation.
///
/// The callback is any callable that takes no argument or a `wait_activation&`; what it returns is dropped. It may be
/// move-only. Activations that come about by wait_activation::rearm() never overlap. A wait that somebody arms while its
/// callback runs can activate again meanwhile. An exception that leaves the callback ends the process by std::terminate,
/// with its message on the standard error stream.
///
/// The wait takes the signal as a waiting thread would: once per activation, an event with automatic reset is reset. Of
/// several waits for such an event each signal activates one.
///
/// The destructor drains: it disarms, lets an activation that is queued run, waits for the callbacks, releases the native
/// object, destroys the callable, on the calling thread and outside every lock, and then closes the handle. It does
/// not cancel. A callback that re-arms does not keep it from coming to an end.
///
/// An object that is drained by its own callback would wait for itself for ever. stop_and_drain() and
/// wait_for_callbacks() throw std::system_error (std::errc::resource_deadlock_would_occur) instead, and a destructor or an
/// assignment that would have to wait ends the process with a message that names the place where the object was
/// created. A callback that has called callback_instance::disassociate() may do all of this.
///
/// Thread safety: any thread may call any member function at any time, the object's own callbacks included, unless the
/// object itself is being assigned, moved or destroyed. What happened before the object was signalled is visible to the
/// callback, and what a callback did is visible to whoever drained it. A moved-from wait can be destroyed and assigned to;
/// any other use of it ends the process with a message.
///
/// Win32: PTP_WAIT.
class wait {
 public:
  /// Takes over what to wait for (an event converts, and is shared), and copies or moves `callable` into the object, which
  /// is not armed yet. `environment` is read now and not kept. `where` is named in messages about the object; left
  /// alone it is the place of the call.
  ///
  /// Throws std::system_error when the system refuses, std::bad_alloc when there is no memory, and what copying or
  /// moving the callable throws; the handle has been closed then. Costs one allocation beside the native object's own.
  /// Win32: CreateThreadpoolWait.
  template <class F>
  wait(waitable_handle what, F&& callable, const callback_environment& environment = {},
       const std::source_location& where = std::source_location::current())
      : wait(*detail::make_wait_context(std::move(what), std::forward<F>(callable), where), environment) {}

  /// The object takes over the other's callback, handle and arming; running callbacks do not notice.
  wait(wait&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}

  /// Drains what the object held before, as the destructor does.
  wait& operator=(wait&& other) noexcept;

  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;

  /// Drains; see above. Blocks until queued and running callbacks are over.
  ~wait();

  /// Has the callback run once, when the object is signalled (at once if it is). Takes the place of an earlier arming that
  /// has not led to an activation yet. Never fails, throws or allocates. Win32: SetThreadpoolWait.
  void arm() noexcept { arm_until(detail::without_end); }

  /// The same, or when `time_out` is over, in monotonic time that does not count while the system sleeps. Never gives up
  /// early. Zero, a negative duration or NaN only looks, and the callback runs at once either way; more than 95 years is
  /// for ever.
  template <class Rep, class Period>
  void arm(std::chrono::duration<Rep, Period> time_out) noexcept {
    arm_until(detail::time_out_after(time_out));
  }

  /// No longer waits for the signal. An activation that is already queued still runs, and a callback that is running can
  /// still re-arm the wait when it returns: stop_and_drain() ends that. Win32: SetThreadpoolWait with a null handle.
  void disarm() noexcept;

  /// Waits for the callbacks that are queued or running, not for a signal that has not come. Callbacks that re-arm a wait
  /// for an object that is signalled prolong it. Throws as described above when called by the object's own callback.
  /// Win32: WaitForThreadpoolWaitCallbacks(…, FALSE).
  void wait_for_callbacks();

  /// Drops an activation that is queued, unless its callback has begun, and waits for the callbacks that run. Leaves the
  /// arming as it is: call disarm() first if no more activations are wanted. What this wait was signalled for is lost;
  /// stop_and_drain() loses nothing. Throws as described above when called by the object's own callback.
  ///
  /// On Windows a pool that has no thread yet may never get one when a queued activation is taken away from it, and what is
  /// queued there later waits for ever. The library therefore gives the pool something to do within half a second, and sees
  /// to it that it is done (docs/design/heal.md). In a build without that (TIDEPOOL_SELF_HEAL=OFF) the function does not
  /// compile. Cost: the first call in a process makes a pool and a thread for it, which stay, and so does the library that
  /// this one is linked into.
  /// Win32: WaitForThreadpoolWaitCallbacks(…, TRUE).
#ifndef TIDEPOOL_NO_SELF_HEAL
  void try_cancel_pending() { cancel_pending(true); }
#else
  template <class Never = void>
  void try_cancel_pending() {
    static_assert(detail::repairs<Never>, TIDEPOOL_NOT_REPAIRED);
  }
#endif

  /// The synchronous close, under the name that all callback sources share: disarms, lets an activation that is queued
  /// run, waits for the callbacks, and discards what they ask for by way of re-arming. Afterwards nothing of the object is
  /// queued or running, unless another thread has armed the wait meanwhile. The wait can be armed again, and its
  /// callbacks can re-arm it again. Throws as described above when called by the object's own callback.
  void stop_and_drain();

 private:
  friend struct detail::access;

  /// Takes over the context, also when it throws.
  wait(detail::wait_context& context, const callback_environment& environment);

  void arm_until(detail::due_time time_out) noexcept;
  void cancel_pending(bool heal);

  detail::wait_context* context_;
};

}  // namespace tidepool
