// How many keep an object.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidepool::support {

/// Begins with one: its maker's.
class reference_count {
 public:
  /// For a caller who has a reference already. Relaxed: nothing is read on the strength of the count alone.
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }

  /// For a caller who has none, but knows that the object has not been destroyed yet.
  [[nodiscard]] bool try_add() noexcept {
    std::uint32_t now = count_.load(std::memory_order_relaxed);
    while (now != 0) {
      if (count_.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  /// Returns whether it was the last. Release: pairs with the acquire of the last one, whose caller ends the object after
  /// every other use of it.
  [[nodiscard]] bool drop() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  /// Whether there is one. Acquire: pairs with the release of the reference that went last.
  [[nodiscard]] bool is_one() const noexcept { return count_.load(std::memory_order_acquire) == 1; }
  /// Whether the last one has gone. Relaxed: for who knows already.
  [[nodiscard]] bool is_none() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  std::atomic<std::uint32_t> count_{1};
};

}  // namespace tidepool::support
