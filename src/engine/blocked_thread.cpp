#include "engine/blocked_thread.hpp"

#include "engine/blocking_region.hpp"
#include "engine/fork.hpp"

namespace tidepool::engine {

bool blocked_thread::sleep(deadline end) noexcept {
  // Acquire, here and below: pairs with the release in wake(), so that the result is seen, and what happened before
  // the object was signalled.
  if (state_.load(std::memory_order_acquire) == satisfied) {
    return true;
  }
  require_threads();  // who waits in the child of a fork waits for one of those that are not there
  const blocking_region region;
  for (;;) {
    const std::uint32_t state = state_.load(std::memory_order_acquire);
    if (state == satisfied) {
      return true;
    }
    if (state == claimed || end.is_never()) {
      futex_wait(state_, state);  // once it is claimed, the time-out does not matter any more
      continue;
    }
    timespec left;
    if (end.remaining(left)) {
      futex_wait(state_, state, &left);
    } else if (claim()) {
      return false;
    }
  }
}

void blocked_thread::wake(deferred_action& self) noexcept {
  auto& state = static_cast<blocked_thread&>(self).state_;
  state.store(satisfied, std::memory_order_release);  // pairs with the acquire in sleep()
  futex_wake(state, 1);                               // the thread may be gone already: only the address is used
}

}  // namespace tidepool::engine
