// Mutual exclusion between the one thread that owns something and rare visitors: the owner pays two plain
// stores and a load, the visitor pays for both.
#pragma once

#include <sched.h>

#include "engine/asymmetric_fence.hpp"
#include "engine/futex.hpp"

namespace tidepool::engine {

/// The race, told from each side. The owner announces itself (A1), then looks for a visitor (A2). A visitor
/// announces itself (B1), runs a heavy fence, then looks for the owner (B2). The fence orders A1 before A2 as
/// seen from here: either A1 came before it, and B2 sees the owner inside, or A2 comes after it, and sees the
/// visitor. Both may see each other; then the owner steps back.
class owner_section {
 public:
  void enter() noexcept {
    for (;;) {
      inside_.store(true, std::memory_order_relaxed);  // A1; ordered by the fences, see above
      light_fence();
      // A2. Acquire: pairs with the release in leave_visit(), so that the visitor's changes are seen.
      if (!visited_.load(std::memory_order_acquire)) [[likely]] {
        return;
      }
      // Release, as in leave().
      inside_.store(false, std::memory_order_release);
      for (int spin = 0; visited_.load(std::memory_order_relaxed); ++spin) {
        pause(spin);
      }
    }
  }

  /// Release: pairs with the acquire of B2, so that a visitor sees what the owner did.
  void leave() noexcept { inside_.store(false, std::memory_order_release); }

  /// Visits exclude each other. A visitor that enters several sections takes them in one global order, calls
  /// announce_visit() on each, then one heavy_fence(), then await_owner() on each.
  void announce_visit() noexcept {
    // B1. Acquire: pairs with the release of the visitor before.
    for (int spin = 0; visited_.exchange(true, std::memory_order_acquire); ++spin) {
      pause(spin);
    }
  }

  void await_owner() noexcept {
    for (int spin = 0; inside_.load(std::memory_order_acquire); ++spin) {  // B2
      pause(spin);
    }
  }

  void leave_visit() noexcept { visited_.store(false, std::memory_order_release); }

 private:
  // Both sides hold the section for a few dozen instructions; only a preempted holder makes anybody wait long.
  static void pause(int spin) noexcept {
    if (spin < 200) {
      cpu_pause();
    } else if (spin < 400) {
      sched_yield();
    } else {
      const timespec nap{0, 50'000};  // a yield does nothing for a holder of lower real-time priority
      nanosleep(&nap, nullptr);
    }
  }

  std::atomic<bool> inside_{false};
  std::atomic<bool> visited_{false};
};

}  // namespace tidepool::engine
