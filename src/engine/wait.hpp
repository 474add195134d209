// Waits: a callback when an object is signalled, or a time is over.
#pragma once

#include "engine/activated_object.hpp"
#include "engine/poller.hpp"

/// An arming ends in one of three ways, and `armed_` decides which: the object's signal takes it (under the object's
/// lock), the time-out takes it (under the timers' lock), or set() and disarm() take it (under setting_). Once these two
/// have also taken the block out of the object's queue and the time-out out of the timers, nobody can come late.
struct _TP_WAIT final : tidepool::engine::activated_object {
  _TP_WAIT(PTP_WAIT_CALLBACK of, PVOID callback_context, const tidepool::engine::callback_settings& asked) noexcept
      : activated_object(callback_context, asked), callback_(of) {}
  ~_TP_WAIT() override { disarm(); }

  /// Returns whether it was armed before. With an invalid handle it is not armed, and the last error says so.
  bool set(HANDLE handle, const FILETIME* end) noexcept;
  void disarm() noexcept override;
  bool drop() noexcept override;

 private:
  struct block : tidepool::engine::wait_block {
    explicit block(_TP_WAIT& of) noexcept : wait_block(&take_signal, nullptr), wait(of) {}
    static void take_signal(wait_block& self, tidepool::engine::dispatcher_object& object,
                            tidepool::engine::deferred_actions& later) noexcept;
    _TP_WAIT& wait;
  };

  struct time_out : tidepool::engine::timed_action {
    explicit time_out(_TP_WAIT& of) noexcept : timed_action(&come_due), wait(of) {}
    static std::uint64_t come_due(timed_action& action, std::uint64_t now,
                                  tidepool::engine::deferred_actions& later) noexcept;
    _TP_WAIT& wait;
  };

  void call(_TP_CALLBACK_INSTANCE& instance) noexcept override;
  void arm(tidepool::engine::dispatcher_object* object, const FILETIME* end) noexcept;
  bool disarm_locked() noexcept;
  void forget_object() noexcept;
  /// Exactly one caller ends the arming. Acquire-release: what it set up is seen by who ends it.
  bool take_arming() noexcept { return armed_.exchange(false, std::memory_order_acq_rel); }
  void activate_with(TP_WAIT_RESULT result, tidepool::engine::deferred_actions& later) noexcept;
  TP_WAIT_RESULT next_result() noexcept;

  tidepool::engine::futex_lock setting_;  // one set() or disarm() at a time; comes before the object's lock
  tidepool::engine::dispatcher_object* object_ = nullptr;  // guarded by setting_; with a reference
  std::atomic<bool> armed_{false};
  std::atomic<bool> timed_{false};  // relaxed: whether there is a time-out to take back; set before the arming
  block block_{*this};
  time_out time_out_{*this};

  // Results of activations that have not begun, the oldest in the lowest bit; set: timed out.
  tidepool::engine::futex_lock results_lock_;  // nothing is locked inside it
  std::uint64_t results_ = 0;
  unsigned result_count_ = 0;
  TP_WAIT_RESULT last_result_ = 0;

  const PTP_WAIT_CALLBACK callback_;
};
