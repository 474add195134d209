#include "engine/timer.hpp"

#include <mutex>

#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

namespace {

constexpr std::uint64_t nanoseconds_of(DWORD milliseconds) noexcept { return std::uint64_t{milliseconds} * 1'000'000u; }

}  // namespace

bool _TP_TIMER::set(const FILETIME* due, DWORD period, DWORD window) noexcept {
  if (due == nullptr) {
    return unset();
  }
  const due_time when = due_time::read(*due);
  if (when.relative && !when.at_once) {
    const auto fast =
        poller::instance().timers.try_arm_after(tick_, when.nanoseconds, nanoseconds_of(window), [&]() noexcept {
          if (!is_undisturbed() || !poller::instance().is_served()) {
            return false;
          }
          note_setting(nanoseconds_of(period), nanoseconds_of(window));
          return true;
        });
    if (fast != timer_service::attempt::refused) {
      return fast == timer_service::attempt::replaced;
    }
  }
  const in_use keep(*this);
  bool stopped;
  {
    const std::lock_guard guard(setting_);
    stopped = stop(1);
    note_setting(nanoseconds_of(period), nanoseconds_of(window));
    arm(when);
  }
  poller::instance().ensure_served(*settings.pool);
  return stopped;
}

bool _TP_TIMER::unset() noexcept {
  const auto fast = poller::instance().timers.try_disarm(tick_, [&]() noexcept {
    if (!is_undisturbed()) {
      return false;
    }
    is_set_.store(false, std::memory_order_relaxed);
    return true;
  });
  if (fast != timer_service::attempt::refused) {
    return fast == timer_service::attempt::replaced;
  }
  const std::lock_guard guard(setting_);
  is_set_.store(false, std::memory_order_relaxed);
  return stop(0);
}

/// With setting_ held: a tick that has not started does not come, be it armed or queued. `own`: claims of the caller.
bool _TP_TIMER::stop(std::uint64_t own) noexcept {
  const bool was_armed = poller::instance().timers.disarm(tick_);
  return (!state.is_quiet_but_for(own) && cancel(own)) || was_armed;
}

/// With setting_ held.
void _TP_TIMER::arm(const due_time& when) noexcept {
  timer_service& timers = poller::instance().timers;
  if (!when.at_once) {
    when.arm(tick_, window_);
    return;
  }
  if (period_ != 0) {
    timers.arm_after(tick_, period_, window_);
  }
  deferred_actions later;
  activate(later);
  later.run_all();
}

std::uint64_t _TP_TIMER::tick::come_due(timed_action& action, std::uint64_t now, deferred_actions& later) noexcept {
  _TP_TIMER& timer = static_cast<tick&>(action).timer;
  if (timer.state.queued() == 0) {  // ticks that find one queued do not pile up
    timer.activate(later);
  }
  if (timer.period_ == 0) {
    return timer_wheel::never;
  }
  if (timer.due_ == 0) {
    timer.due_ = action.moment;
  }
  // By the calendar of the first tick, so that what one is late by does not add up. What was missed altogether is
  // not made up for.
  timer.due_ = later_by(timer.due_, timer.period_);
  if (timer.due_ <= now) {
    timer.due_ = later_by(now, timer.period_ - (now - timer.due_) % timer.period_);
  }
  return timer_service::choose(timer.due_, timer.window_);
}

// ---- the Win32 functions -------------------------------------------------------------------------------

PTP_TIMER CreateThreadpoolTimer(PTP_TIMER_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment) noexcept {
  return create_object<_TP_TIMER>(callback, context, environment, &poller::ready);
}

VOID SetThreadpoolTimer(PTP_TIMER timer, PFILETIME due, DWORD period, DWORD window) noexcept {
  timer->set(due, period, window);
}

BOOL SetThreadpoolTimerEx(PTP_TIMER timer, PFILETIME due, DWORD period, DWORD window) noexcept {
  return timer->set(due, period, window) ? TRUE : FALSE;
}

BOOL IsThreadpoolTimerSet(PTP_TIMER timer) noexcept { return timer->is_set() ? TRUE : FALSE; }

VOID WaitForThreadpoolTimerCallbacks(PTP_TIMER timer, BOOL cancel_pending) noexcept {
  if (cancel_pending) {
    timer->cancel();
  }
  timer->wait();
}

VOID CloseThreadpoolTimer(PTP_TIMER timer) noexcept {
  timer->disarm();
  timer->cancel();
  timer->close();
}
