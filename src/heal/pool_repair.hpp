// The repair of one pool.
#pragma once

#include <memory>

#include "heal/repair_state.hpp"
#include "win32.hpp"

namespace tidepool::heal {

[[nodiscard]] moment now() noexcept;

class pool_repair {
 public:
  /// Null is the default pool. Throws std::bad_alloc if there is no work item to be had.
  explicit pool_repair(PTP_POOL of);
  pool_repair(const pool_repair&) = delete;
  pool_repair& operator=(const pool_repair&) = delete;
  /// Drops a repair that is queued, and waits for one that runs.
  ~pool_repair();

  /// Submits the repair, or reports that it is stuck, if it is time for that. Returns whether the pool is given up. By the
  /// healer.
  [[nodiscard]] bool tick(moment at) noexcept;

  const PTP_POOL pool;
  repair_state state;

  // See owing_pools.cpp, whose lock guards these.
  std::shared_ptr<::_TP_POOL> kept;
  pool_repair* next = nullptr;
  bool is_listed = false;

 private:
  // Made now, since when it is needed there may be no memory. Making one does not set a stalled pool going; submitting it does.
  PTP_WORK work_ = nullptr;
};

}  // namespace tidepool::heal
