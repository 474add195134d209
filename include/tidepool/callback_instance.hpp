// What a callback may ask about, and of, its own run.
#pragma once

#include "tidepool/detail/callback_frame.hpp"
#include "tidepool/event.hpp"

namespace tidepool {

/// One run of a callback. A callback that takes a `callback_instance&` is given the one of its run.
///
/// It must be used inside that callback, on its thread; anything else is found out, and ends the process with a
/// message. For semaphores, mutexes, critical sections and libraries, which are raw handles, see tidepool/unsafe.hpp.
///
/// Win32: PTP_CALLBACK_INSTANCE.
class callback_instance {
 public:
  callback_instance(const callback_instance&) = delete;
  callback_instance& operator=(const callback_instance&) = delete;

  /// Says that this run may take long. Returns whether the pool can give other callbacks another thread meanwhile; if
  /// not, the callback may still go on, but others have to wait for it. Win32: CallbackMayRunLong.
  bool may_run_long() noexcept;

  /// From now on nobody waits for this run: the drains of its object, its destructor included, no longer cover it.
  /// Hence the callback may now drain or destroy the object that it belongs to. The callable and its state stay alive
  /// until the run is over, and go with it if the object is gone by then; whatever else the callback uses must be kept
  /// alive by other means. The closing of a cleanup_group still waits for runs of its members that have done this. A
  /// second call does nothing. Win32: DisassociateCurrentThreadFromCallback.
  void disassociate() noexcept;

  /// Sets a copy of `what` when this run is over: the callable has returned, and that of a one-off has been destroyed.
  /// A drain of the object returns only after that. May be called for several events, which are set in that order.
  /// The event is kept alive until then. Costs one allocation; throws std::bad_alloc.
  ///
  /// Win32: the effect of SetEventWhenCallbackReturns.
  void set_event_when_returns(const event& what);

 private:
  friend struct detail::access;

  explicit callback_instance(detail::callback_frame& frame) noexcept : frame_(frame) {}

  detail::callback_frame& frame_;
};

}  // namespace tidepool
