#include "engine/wait.hpp"

#include <mutex>
#include <utility>

#include "engine/due_time.hpp"
#include "engine/handle_table.hpp"
#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

bool _TP_WAIT::set(HANDLE handle, const FILETIME* end) noexcept {
  const bool has_object = handle != nullptr && handle != INVALID_HANDLE_VALUE;
  const object_pin object = has_object ? object_pin{handle} : object_pin{};
  const bool valid = !has_object || (object && object->kind != object_kind::mutex && object->kind != object_kind::file);
  if (!valid || handle == nullptr) {
    const std::lock_guard guard(setting_);
    const bool was_armed = disarm_locked();
    if (!valid) {
      SetLastError(object ? ERROR_NOT_SUPPORTED : ERROR_INVALID_HANDLE);
    }
    return was_armed;
  }
  const in_use keep(*this);
  bool was_armed;
  {
    const std::lock_guard guard(setting_);
    was_armed = disarm_locked();
    arm(has_object ? &*object : nullptr, end);
  }
  poller::instance().ensure_served(*settings.pool);
  return was_armed;
}

/// With setting_ held.
void _TP_WAIT::arm(dispatcher_object* object, const FILETIME* end) noexcept {
  const due_time when = end != nullptr ? due_time::read(*end) : due_time{};
  const bool at_once = end != nullptr && when.at_once;
  timed_.store(end != nullptr && !at_once, std::memory_order_relaxed);
  deferred_actions later;
  bool open = true;
  if (object != nullptr) {
    const std::lock_guard guard(object->lock);
    if (at_once ? object->probe(nullptr) : object->glance(nullptr)) {
      object->consume(nullptr);
      activate_with(WAIT_OBJECT_0, later);
      open = false;
    } else if (!at_once) {
      armed_.store(true, std::memory_order_release);
      object->add_reference();
      object_ = object;
      object->enqueue(block_);
    }
  } else if (!at_once) {
    armed_.store(true, std::memory_order_release);
  }
  if (open && at_once) {
    activate_with(WAIT_TIMEOUT, later);
  } else if (open && end != nullptr) {
    when.arm(time_out_);
    if (!armed_.load(std::memory_order_acquire)) {
      poller::instance().timers.disarm(time_out_);  // the signal came first, and found no time-out to take back
    }
  }
  later.run_all();
}

void _TP_WAIT::disarm() noexcept {
  const std::lock_guard guard(setting_);
  disarm_locked();
}

bool _TP_WAIT::disarm_locked() noexcept {
  const bool was_armed = take_arming();
  forget_object();
  if (timed_.load(std::memory_order_relaxed)) {
    poller::instance().timers.disarm(time_out_);
  }
  return was_armed;
}

/// With setting_ held, while not armed.
void _TP_WAIT::forget_object() noexcept {
  if (dispatcher_object* const object = std::exchange(object_, nullptr)) {
    {
      const std::lock_guard guard(object->lock);
      if (block_.queued) {
        object->dequeue(block_);
      }
    }
    object->release_reference();
  }
}

void _TP_WAIT::block::take_signal(wait_block& self, dispatcher_object& object, deferred_actions& later) noexcept {
  _TP_WAIT& wait = static_cast<block&>(self).wait;
  object.dequeue(self);
  if (!wait.take_arming()) {
    return;  // timed out, or being disarmed
  }
  object.consume(nullptr);
  if (wait.timed_.load(std::memory_order_relaxed)) {
    poller::instance().timers.disarm(wait.time_out_);
  }
  wait.activate_with(WAIT_OBJECT_0, later);
}

std::uint64_t _TP_WAIT::time_out::come_due(timed_action& action, std::uint64_t, deferred_actions& later) noexcept {
  _TP_WAIT& wait = static_cast<time_out&>(action).wait;
  if (wait.take_arming()) {
    wait.activate_with(WAIT_TIMEOUT, later);
  }
  return timer_wheel::never;
}

void _TP_WAIT::activate_with(TP_WAIT_RESULT result, deferred_actions& later) noexcept {
  {
    const std::lock_guard guard(results_lock_);
    last_result_ = result;
    if (result_count_ != 64) {
      results_ |= std::uint64_t{result == WAIT_TIMEOUT} << result_count_;
      ++result_count_;
    }
  }
  activate(later);
}

TP_WAIT_RESULT _TP_WAIT::next_result() noexcept {
  const std::lock_guard guard(results_lock_);
  if (result_count_ == 0) {
    return last_result_;  // so many were queued at once, or some were dropped just now
  }
  const TP_WAIT_RESULT result = (results_ & 1) != 0 ? WAIT_TIMEOUT : WAIT_OBJECT_0;
  results_ >>= 1;
  --result_count_;
  return result;
}

bool _TP_WAIT::drop() noexcept {
  const bool dropped = cancel();
  if (dropped) {
    const std::lock_guard guard(results_lock_);
    results_ = 0;
    result_count_ = 0;
  }
  return dropped;
}

void _TP_WAIT::call(_TP_CALLBACK_INSTANCE& instance) noexcept {
  const TP_WAIT_RESULT result = next_result();
  if (result == WAIT_TIMEOUT) {
    // The block is still in the object's queue: it could not be taken out with the timers' lock held.
    const std::lock_guard guard(setting_);
    if (!armed_.load(std::memory_order_acquire)) {
      forget_object();
    }
  }
  callback_(&instance, context, this, result);
}

// ---- the Win32 functions -------------------------------------------------------------------------------

PTP_WAIT CreateThreadpoolWait(PTP_WAIT_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment) noexcept {
  return create_object<_TP_WAIT>(callback, context, environment, &poller::ready);
}

VOID SetThreadpoolWait(PTP_WAIT wait, HANDLE object, PFILETIME time_out) noexcept { wait->set(object, time_out); }

BOOL SetThreadpoolWaitEx(PTP_WAIT wait, HANDLE object, PFILETIME time_out, PVOID /*reserved*/) noexcept {
  return wait->set(object, time_out) ? TRUE : FALSE;
}

VOID WaitForThreadpoolWaitCallbacks(PTP_WAIT wait, BOOL cancel_pending) noexcept {
  if (cancel_pending) {
    wait->drop();
  }
  wait->wait();
}

VOID CloseThreadpoolWait(PTP_WAIT wait) noexcept {
  wait->disarm();
  wait->drop();
  wait->close();
}
