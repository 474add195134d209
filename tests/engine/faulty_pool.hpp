// A pool with the fault, for the tests of it.
#pragma once

#include <tidepool/win32/tpextensions.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "contract/sources.hpp"
#include "engine/stall_fault.hpp"

namespace contract {

using tidepool::engine::has_stalled;
using tidepool::engine::inject_stall_fault;
using tidepool::engine::stall_fault;

// The window is an hour where something has to happen within it, so nothing depends on how fast that is.
inline constexpr stall_fault always{1h, 1, 1};
inline constexpr stall_fault never_within{1h, 0, 1};

inline TIDEPOOL_POOL_STATISTICS statistics_of(PTP_POOL pool) {
  TIDEPOOL_POOL_STATISTICS its;
  TidepoolQueryPoolStatistics(pool, &its);
  return its;
}

inline bool is_listed(PTP_POOL pool) {
  std::vector<TIDEPOOL_POOL_STATISTICS> all(TidepoolQueryPools(nullptr, 0) + 8);
  all.resize(std::min<std::size_t>(all.size(), TidepoolQueryPools(all.data(), static_cast<DWORD>(all.size()))));
  return std::any_of(all.begin(), all.end(), [pool](const auto& each) { return each.Pool == pool; });
}

/// A pool with the fault, and what is needed to try it.
struct faulty_pool {
  explicit faulty_pool(const stall_fault& fault) { inject_stall_fault(its.get(), fault); }

  /// A wait's callback is queued, and dropped again.
  void remove_one() {
    contract::wait victim{[this] { ran.add(); }, where};
    victim.set(signalled);
    victim.cancel();
  }

  [[nodiscard]] bool stalled() const { return has_stalled(its.get()); }
  [[nodiscard]] TIDEPOOL_POOL_STATISTICS statistics() const { return statistics_of(its.get()); }

  pool its;
  environment where{its};
  handle signalled = manual_event(true);
  tally ran;
  std::function<void()> count = [this] { ran.add(); };
};

/// What a pool of which it is known that it has stalled still holds has to be let go.
struct stalled_pool : faulty_pool {
  stalled_pool() : faulty_pool{always} {
    remove_one();
    EXPECT_TRUE(stalled());
  }
  ~stalled_pool() {
    submit_one_off([](PTP_CALLBACK_INSTANCE) {}, where);
  }
};

}  // namespace contract
