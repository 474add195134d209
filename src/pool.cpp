#include "tidepool/pool.hpp"

#include <algorithm>

#include "last_error.hpp"
#include "pool_closer.hpp"
#include "teardown/fail_fast.hpp"
#include "tidepool/work.hpp"
#include "trace/traced.hpp"

#ifndef _WIN32
#include "tidepool/win32/tpextensions.h"
#endif

namespace tidepool {

namespace {

constexpr const char* moved_from = "a pool was used after it had been moved from";

PTP_POOL create() {
  const PTP_POOL created = TRACED(CreateThreadpool)(nullptr);
  if (created == nullptr) {
    throw_last_error("CreateThreadpool");
  }
  recorder::note<recorder::kind::pool, recorder::action::created>(created);
  return created;
}

/// `of` may be null: the default pool.
pool_statistics statistics_of([[maybe_unused]] PTP_POOL of) {
  pool_statistics result;
#ifndef _WIN32
  TIDEPOOL_POOL_STATISTICS native{};
  TidepoolQueryPoolStatistics(of, &native);
  result.threads = native.Threads;
  result.idle_threads = native.IdleThreads;
  result.queued_callbacks = native.QueuedCallbacks;
  result.callbacks_run = native.CallbacksRun;
#endif
  return result;
}

}  // namespace

void pool_closer::operator()(PTP_POOL owned) noexcept {
#ifndef TIDEPOOL_NO_SELF_HEAL
  repair.clear();
#endif
  TRACED(CloseThreadpool)(owned);
  recorder::note<recorder::kind::pool, recorder::action::closed>(owned);
}

pool::pool() : native_(create(), pool_closer()) {}

void pool::set_max_threads(std::uint32_t maximum) noexcept {
  require_not_moved_from(native_, moved_from);
  TRACED(SetThreadpoolThreadMaximum)(native_.get(), std::max(maximum, std::uint32_t{1}));
}

void pool::set_min_threads(std::uint32_t minimum) {
  require_not_moved_from(native_, moved_from);
  if (!TRACED(SetThreadpoolThreadMinimum)(native_.get(), minimum)) {
    throw_last_error("SetThreadpoolThreadMinimum");
  }
}

void pool::set_stack_size(stack_size size) {
  require_not_moved_from(native_, moved_from);
  TP_POOL_STACK_INFORMATION native{size.reserve, size.commit};
  if (!TRACED(SetThreadpoolStackInformation)(native_.get(), &native)) {
    throw_last_error("SetThreadpoolStackInformation");
  }
}

stack_size pool::get_stack_size() const {
  require_not_moved_from(native_, moved_from);
  TP_POOL_STACK_INFORMATION native{};
  if (!TRACED(QueryThreadpoolStackInformation)(native_.get(), &native)) {
    throw_last_error("QueryThreadpoolStackInformation");
  }
  return {native.StackReserve, native.StackCommit};
}

pool_statistics pool::statistics() const {
  require_not_moved_from(native_, moved_from);
  return statistics_of(native_.get());
}

pool_statistics pool::default_pool_statistics() { return statistics_of(nullptr); }

void prewarm_default_pool() {
  work first([] {});
  first.submit();
  first.stop_and_drain();
}

}  // namespace tidepool
