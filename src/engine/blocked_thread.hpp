// A thread that sleeps until one of its wait blocks is satisfied.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/deadline.hpp"
#include "engine/dispatcher_object.hpp"
#include "tidepool/win32/synchapi.h"

namespace tidepool::engine {

/// Lives on the stack of the waiting thread. Its wait can be satisfied through several objects, each under its own
/// lock, or time out; claim() decides who it is that ends it. The winner writes the outcome and then, with no lock held,
/// sets the thread going; until that moment the thread stays, and so does what is on its stack.
class blocked_thread : public deferred_action {
 public:
  blocked_thread() noexcept : deferred_action(&wake) {}
  blocked_thread(const blocked_thread&) = delete;
  blocked_thread& operator=(const blocked_thread&) = delete;

  /// True for exactly one caller. Relaxed: nothing is read on the strength of it; the outcome is published by wake(),
  /// and what the winner reads of the waiter it found under an object's lock.
  [[nodiscard]] bool claim() noexcept {
    std::uint32_t expected = waiting;
    return state_.compare_exchange_strong(expected, claimed, std::memory_order_relaxed);
  }

  /// For whoever has claimed the wait: how it ended, `index` being that of the object. Wakes the thread when `later`
  /// runs.
  void satisfy(DWORD index, wait_status status, deferred_actions& later) noexcept {
    result_ = result(index, status);
    later.add(*this);
  }

  /// Sleeps until the wait is satisfied; false when the time was over first, upon which nobody can claim it any more.
  [[nodiscard]] bool sleep(deadline end) noexcept;

  /// What the wait function returns once sleep() has returned true.
  [[nodiscard]] DWORD result() const noexcept { return result_; }

  [[nodiscard]] static DWORD result(DWORD index, wait_status status) noexcept {
    return (status == wait_status::abandoned ? WAIT_ABANDONED_0 : WAIT_OBJECT_0) + index;
  }

 private:
  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t claimed = 1;
  static constexpr std::uint32_t satisfied = 2;

  static void wake(deferred_action& self) noexcept;

  std::atomic<std::uint32_t> state_{waiting};
  DWORD result_ = WAIT_FAILED;  // written by the one who claimed, before the state says `satisfied`
};

}  // namespace tidepool::engine
