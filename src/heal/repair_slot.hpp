// Where a pool keeps its repair.
#pragma once

#include <atomic>

#include "heal/pool_repair.hpp"

namespace tidepool::heal {

/// Empty until somebody asks.
class repair_slot {
 public:
  constexpr repair_slot() noexcept = default;
  repair_slot(const repair_slot&) = delete;
  repair_slot& operator=(const repair_slot&) = delete;

  /// The pool's repair, which the first one makes. Throws std::bad_alloc.
  pool_repair& get(PTP_POOL pool) {
    pool_repair* there = made_.load(std::memory_order_acquire);
    if (there == nullptr) {
      auto* const another = new pool_repair(pool);
      // Releases the repair to the acquiring load of who finds it, here, above, or in clear().
      if (made_.compare_exchange_strong(there, another, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return *another;
      }
      delete another;
    }
    return *there;
  }

  /// By whoever is about to close the pool.
  void clear() noexcept { delete made_.exchange(nullptr, std::memory_order_acquire); }

 private:
  std::atomic<pool_repair*> made_{nullptr};
};

}  // namespace tidepool::heal
