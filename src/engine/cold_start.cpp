#include "engine/cold_start.hpp"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>

#include "engine/callback_object.hpp"
#include "engine/pool.hpp"
#include "engine/start_thread.hpp"
#include "engine/thread_clock.hpp"
#include "engine/wait.hpp"

namespace tidepool::engine {

namespace {

constexpr std::size_t maker_stack = std::size_t{64} << 10;
constexpr std::int64_t second = 1'000'000'000;

}  // namespace

cold_start::cold_start(_TP_POOL& pool, const stall_fault& fault)
    : pool_(pool),
      window_(fault.window.count()),
      probability_(fault.probability),
      chance_(fault.seed),
      phase_(static_cast<std::uint32_t>(phase::cold)) {}

void cold_start::become(phase next) noexcept {
  phase_.store(static_cast<std::uint32_t>(next), std::memory_order_relaxed);
  futex_wake(phase_, 1);
}

bool cold_start::keep(packet& entry) noexcept {
  if (!lasts()) {
    return false;
  }
  std::unique_lock lock(lock_);
  if (!lasts()) {
    return false;
  }
  if (entry.kind->dispatch == &callback_object::dispatch_object) {
    auto& object = static_cast<callback_object&>(entry);
    const work_state::claimed claim = object.state.claim(0);
    if (!claim.remaining) {
      lock.unlock();  // dropped on the way here, when take_back() could not find it
      if (claim.unowned) {
        delete &object;
      }
      return true;
    }
  }
  const bool first = now() == phase::cold;
  if (first) {
    const std::int64_t start = monotonic_now();
    due_ = start + std::min(window_, std::numeric_limits<std::int64_t>::max() - start);
    become(phase::making);  // before there is anything on the port: no snapshot sees a pool in which nothing moves
  }
  pool_.put(entry);
  if (first) {
    start_maker();
  }
  return true;
}

void cold_start::take_back(callback_object& object) noexcept {
  const std::lock_guard guard(lock_);
  if (!lasts() || !pool_.take_off(object)) {
    return;
  }
  const work_state::claimed claim = object.state.claim(0);
  TIDEPOOL_ASSERT(!claim.unowned);  // the caller uses it
  if (claim.remaining) {
    pool_.put(object);  // it has been activated again meanwhile
  }
  if (makes_thread() && monotonic_now() < due_ && dynamic_cast<const _TP_WAIT*>(&object) != nullptr && strikes()) {
    become(phase::stalled);
  }
}

bool cold_start::strikes() noexcept { return static_cast<double>(chance_() >> 11) * 0x1p-53 < probability_; }

void cold_start::end() noexcept {
  if (lasts()) {
    const std::lock_guard guard(lock_);
    become(phase::over);
  }
}

// ---- the thread that waits until the first one is due ----------------------------------------------------

void cold_start::start_maker() noexcept {
  auto* const self = new (std::nothrow) std::shared_ptr<cold_start>(weak_from_this().lock());
  if (self == nullptr || !start_thread(&maker_main, self, maker_stack)) {
    delete self;
    pool_.end_cold_start();
  }
}

void* cold_start::maker_main(void* argument) noexcept {
  pthread_setname_np(pthread_self(), "tidepool-maker");
  const std::unique_ptr<std::shared_ptr<cold_start>> self(static_cast<std::shared_ptr<cold_start>*>(argument));
  (*self)->await_due();
  return nullptr;
}

void cold_start::await_due() noexcept {
  while (makes_thread()) {
    const std::int64_t left = due_ - monotonic_now();
    if (left <= 0) {
      break;
    }
    const timespec time{left / second, left % second};
    futex_wait(phase_, static_cast<std::uint32_t>(phase::making), &time);
  }
  const std::lock_guard guard(lock_);
  if (makes_thread() && !pool_.end_cold_start()) {
    become(phase::cold);
  }
}

// ---- for tests -----------------------------------------------------------------------------------------

void inject_stall_fault(PTP_POOL pool, const stall_fault& fault) {
  _TP_POOL& which = _TP_POOL::or_default(pool);
  which.set_cold_start(std::make_shared<cold_start>(which, fault));
}

bool has_stalled(PTP_POOL pool) noexcept {
  const cold_start* const start = _TP_POOL::or_default(pool).cold();
  return start != nullptr && start->has_stalled();
}

}  // namespace tidepool::engine
