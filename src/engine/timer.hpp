// Timers.
#pragma once

#include "engine/activated_object.hpp"
#include "engine/due_time.hpp"
#include "engine/poller.hpp"

struct _TP_TIMER final : tidepool::engine::activated_object {
  _TP_TIMER(PTP_TIMER_CALLBACK of, PVOID callback_context, const tidepool::engine::callback_settings& asked) noexcept
      : activated_object(callback_context, asked), callback_(of) {}
  ~_TP_TIMER() override { disarm(); }

  /// Returns whether a tick was to come that does not come any more.
  bool set(const FILETIME* due, DWORD period, DWORD window) noexcept;
  [[nodiscard]] bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }
  void disarm() noexcept override { tidepool::engine::poller::instance().timers.disarm(tick_); }

 private:
  bool stop(std::uint64_t own) noexcept;
  bool unset() noexcept;
  void arm(const tidepool::engine::due_time& when) noexcept;
  /// While the tick is not armed, or with the timers' lock held.
  void note_setting(std::uint64_t period, std::uint64_t window) noexcept {
    is_set_.store(true, std::memory_order_relaxed);
    period_ = period;
    window_ = window;
    due_ = 0;
  }
  /// With the timers' lock held: whether that lock alone is enough to set the timer. No tick is queued or running, and
  /// nobody is between the steps of a set() that takes several: those take setting_ and then, first of all, this lock.
  [[nodiscard]] bool is_undisturbed() const noexcept { return state.is_quiet() && !setting_.is_locked(); }
  void call(_TP_CALLBACK_INSTANCE& instance) noexcept override { callback_(&instance, context, this); }

  struct tick : tidepool::engine::timed_action {
    explicit tick(_TP_TIMER& of) noexcept : timed_action(&come_due), timer(of) {}
    static std::uint64_t come_due(timed_action& action, std::uint64_t now,
                                  tidepool::engine::deferred_actions& later) noexcept;
    _TP_TIMER& timer;
  };

  tidepool::engine::futex_lock setting_;  // one set() at a time
  std::atomic<bool> is_set_{false};       // relaxed: an answer to a question, nothing more
  // Changed while the tick is not armed, read when it comes.
  std::uint64_t period_ = 0;  // nanoseconds; zero: none
  std::uint64_t window_ = 0;
  std::uint64_t due_ = 0;  // of the tick to come, without its window; zero: the one it was armed for
  tick tick_{*this};
  const PTP_TIMER_CALLBACK callback_;
};
