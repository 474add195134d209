#include "heal/healing.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

#if !defined(__cpp_rtti)
#error "tidepool finds the repair of a pool by the type of its deleter: build it with run-time type information"
#endif

#include <memory>
#include <new>
#include <utility>

#include "heal/owing_pools.hpp"
#include "heal/pool_repair.hpp"
#include "native_environment.hpp"
#include "pool_closer.hpp"
#include "trace/traced.hpp"

namespace tidepool {

namespace {

constinit heal::repair_slot default_pool;  // what it holds stays, as the pool does

void CALLBACK do_nothing(PTP_CALLBACK_INSTANCE, PVOID) noexcept {}

}  // namespace

void heal::prepare(detail::healing& of, native::pool pool, const std::shared_ptr<::_TP_POOL>& owner) noexcept {
  try {
    if (pool == nullptr) {
      of.repair = &default_pool.get(nullptr);
    } else if (pool == owner.get()) {
      of.repair = &std::get_deleter<pool_closer>(owner)->repair.get(pool);
    } else {
      of.repair = new pool_repair(pool);
      of.is_own = true;
    }
  } catch (const std::bad_alloc&) {
    of.repair = nullptr;
  }
}

void heal::note_cancelled(const detail::healing& of, const std::shared_ptr<::_TP_POOL>& owner) noexcept {
  if (of.repair != nullptr) {
    of.repair->state.note_cancelled(now());
    list(*of.repair, of.repair->pool != nullptr && !of.is_own ? owner : nullptr);
  }
}

bool heal::is_owed(const detail::healing& of) noexcept { return of.repair != nullptr && of.repair->state.is_owed(); }

void heal::end(detail::healing& of) noexcept {
  pool_repair* const repair = std::exchange(of.repair, nullptr);
  if (!of.is_own) {
    return;
  }
  of.is_own = false;
  const native::pool pool = repair->pool;
  const bool owes = unlist(*repair) && repair->state.is_owed();
  delete repair;
  if (owes) {
    // This is the last moment, and comes after the repair, if one was queued, has been dropped in its turn. If there is no
    // memory for it there is nothing to be done.
    TP_CALLBACK_ENVIRON_V3 environment = environment_on(pool);
    TRACED(TrySubmitThreadpoolCallback)(&do_nothing, nullptr, &environment);
  }
}

detail::healing::~healing() { heal::end(*this); }

}  // namespace tidepool

#else

namespace tidepool {

detail::no_healing::no_healing() noexcept = default;

}  // namespace tidepool

#endif
