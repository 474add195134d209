#include "heal/owing_pools.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "heal/healer.hpp"
#include "heal/pool_repair.hpp"
#include "support/block_cache.hpp"
#include "teardown/fail_fast.hpp"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace tidepool::heal {

namespace {

/// Held while repairs are submitted, so that one that is taken from the list is not being submitted any more. No callback takes
/// it but the healer's.
struct owing_pools {
  owing_pools() noexcept;

  std::mutex mutex;
  pool_repair* first = nullptr;
  bool has_healer = false;      // or somebody is making it
  bool healer_is_lost = false;  // by a fork, and with it everybody who could run a repair
};

owing_pools& all() noexcept {
  // Never destroyed: waits may be destroyed by destructors of static objects, and the healer ticks to the end.
  alignas(owing_pools) static std::byte storage[sizeof(owing_pools)];
  static owing_pools& only = *::new (storage) owing_pools;
  return only;
}

#ifndef _WIN32

/// In the child of a fork, on its only thread. Who destroys a wait there has nothing to submit.
void forget_lost_repairs(owing_pools& here) noexcept {
  if (!here.has_healer) {
    return;
  }
  here.healer_is_lost = true;
  while (here.first != nullptr) {
    pool_repair& what = *here.first;
    here.first = std::exchange(what.next, nullptr);
    what.is_listed = false;  // what keeps the pool stays: closing it might mean to wait for a thread that is not there
  }
}

/// Waits can be cancelled in the child of a fork, whatever the parent's threads were doing.
owing_pools::owing_pools() noexcept {
  // First the block cache, which is then locked last: it is used with this lock held.
  support::hold_block_caches_in_forks();
  pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); },
                 [] {
                   forget_lost_repairs(all());
                   all().mutex.unlock();
                 });
}

// Before there are threads: a fork while another one makes it would leave the child with one that is never ready.
[[maybe_unused]] const owing_pools& made_before_main = all();

#else

owing_pools::owing_pools() noexcept = default;

#endif

/// With the lock held. What keeps the pool is the caller's to destroy, without the lock: it may close the pool.
[[nodiscard]] std::shared_ptr<::_TP_POOL> take_out(pool_repair*& place) noexcept {
  pool_repair& what = *place;
  place = std::exchange(what.next, nullptr);
  what.is_listed = false;
  return std::move(what.kept);
}

}  // namespace

void list(pool_repair& what, const std::shared_ptr<::_TP_POOL>& owner) noexcept {
  owing_pools& here = all();
  bool is_first;
  {
    const std::lock_guard guard(here.mutex);
    if (here.healer_is_lost) {
      return;
    }
    if (!what.is_listed) {
      what.is_listed = true;
      what.kept = owner;
      what.next = std::exchange(here.first, &what);
    }
    is_first = !std::exchange(here.has_healer, true);
  }
  // Without the lock: the loader has one of its own, and may hold that around somebody who destroys a wait.
  if (is_first && !make_healer()) {
    const std::lock_guard guard(here.mutex);
    here.has_healer = false;  // there is none to be had: then next time
  }
}

bool unlist(pool_repair& what) noexcept {
  owing_pools& here = all();
  std::shared_ptr<::_TP_POOL> kept;
  const std::lock_guard guard(here.mutex);
  if (!what.is_listed) {
    return false;
  }
  pool_repair** place = &here.first;
  while (*place != &what) {
    place = &(*place)->next;
  }
  kept = take_out(*place);
  return true;
}

void tick_all(moment at) noexcept {
  owing_pools& here = all();
  std::shared_ptr<::_TP_POOL> healed;
  [[maybe_unused]] bool has_given_up = false;
  bool more = true;
  while (more) {
    more = false;
    healed.reset();
    const std::lock_guard guard(here.mutex);
    for (pool_repair** place = &here.first; *place != nullptr && !more;) {
      has_given_up = (*place)->tick(at) || has_given_up;
      if (!(*place)->state.is_owed()) {
        healed = take_out(*place);
        more = true;
      } else {
        place = &(*place)->next;
      }
    }
  }
#ifdef TIDEPOOL_FAIL_FAST
  if (has_given_up) {  // without the lock: who handles the signal may do anything, such as fork
    fail_fast(
        "a thread pool from which a queued wait was cancelled has not begun two pieces of work for ten seconds: it has "
        "stalled, or all its threads are busy; see docs/design/heal.md");
  }
#endif
}

}  // namespace tidepool::heal

#endif
