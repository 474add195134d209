// A small mutual-exclusion lock: one word, one atomic operation to take it, a short spin, then the futex.
#pragma once

#include "engine/fork.hpp"
#include "engine/futex.hpp"

namespace tidepool::engine {

/// Lockable (std::lock_guard, std::unique_lock). Not recursive, not fair. For critical sections of a few
/// dozen instructions in which no user code runs.
class futex_lock {
 public:
  constexpr futex_lock() noexcept = default;
  futex_lock(const futex_lock&) = delete;
  futex_lock& operator=(const futex_lock&) = delete;

  void lock() noexcept {
    std::uint32_t expected = unlocked;
    // Acquire: pairs with the release exchange of unlock().
    if (!word_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed)) {
      lock_slow();
    }
  }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = unlocked;
    return word_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
  }

  /// Relaxed: says something only to those whom another lock orders with the ones that take this one.
  [[nodiscard]] bool is_locked() const noexcept { return word_.load(std::memory_order_relaxed) != unlocked; }

  void unlock() noexcept {
    // Release: pairs with the acquire of the next lock(). After the exchange the lock may be destroyed by its
    // next holder; waking then touches only its address.
    if (word_.exchange(unlocked, std::memory_order_release) == contended) {
      futex_wake(word_, 1);
    }
  }

 private:
  static constexpr std::uint32_t unlocked = 0;
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t contended = 2;  // locked, and somebody may sleep

  void lock_slow() noexcept {
    for (int spin = 0; spin < 100; ++spin) {
      if (word_.load(std::memory_order_relaxed) == unlocked && try_lock()) {
        return;
      }
      cpu_pause();
    }
    require_threads();  // a lost one may have the lock
    // Whoever got here assumes that others sleep too, so the word becomes `contended`, never `locked`.
    while (word_.exchange(contended, std::memory_order_acquire) != unlocked) {
      futex_wait(word_, contended);
    }
  }

  std::atomic<std::uint32_t> word_{unlocked};
};

}  // namespace tidepool::engine
