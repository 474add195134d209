#include "heal/healer.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

#include "file_time.hpp"
#include "heal/owing_pools.hpp"
#include "heal/pool_repair.hpp"
#include "native_environment.hpp"
#include "support/keep_loaded.hpp"
#include "trace/traced.hpp"

namespace tidepool::heal {

namespace {

constexpr DWORD milliseconds_between_ticks = 250;
constexpr DWORD milliseconds_of_leeway = 250;

void CALLBACK tick(PTP_CALLBACK_INSTANCE, PVOID, PTP_TIMER) noexcept { tick_all(now()); }

}  // namespace

/// On a pool of its own, since any other may be the one that is stuck. Neither is ever closed, so the library that this is in
/// must not be unloaded.
bool make_healer() noexcept {
  if (!support::keep_loaded(reinterpret_cast<const void*>(&tick))) {
    return false;
  }
  const PTP_POOL pool = TRACED(CreateThreadpool)(nullptr);
  if (pool == nullptr) {
    return false;
  }
  TRACED(SetThreadpoolThreadMaximum)(pool, 1);
  TP_CALLBACK_ENVIRON_V3 environment = environment_on(pool);
  const PTP_TIMER timer = TRACED(CreateThreadpoolTimer)(&tick, nullptr, &environment);
  if (timer == nullptr) {
    TRACED(CloseThreadpool)(pool);
    return false;
  }
  FILETIME due = file_time(-std::int64_t{milliseconds_between_ticks} * 10'000);
  TRACED(SetThreadpoolTimer)(timer, &due, milliseconds_between_ticks, milliseconds_of_leeway);
  return true;
}

}  // namespace tidepool::heal

#endif
