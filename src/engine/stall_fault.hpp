// For tests only: a pool that is made to have the fault of current Windows (docs/design/heal.md).
#pragma once

#include <chrono>
#include <cstdint>

#include "tidepool/win32/threadpoolapiset.h"

namespace tidepool::engine {

struct stall_fault {
  std::chrono::nanoseconds window;  // how long after it was queued the removal of a wait's packet can stall the pool
  double probability;               // that it does, 0 to 1
  std::uint64_t seed;               // of the decision, so that a run can be repeated
};

/// Gives `pool` (null: the default pool) the fault, until it gets its first thread. From the first arrival on, it takes
/// `window` until that thread is made, unless something is submitted before. With a window of nothing it never stalls.
///
/// The pool must have had no thread yet, not even for a minimum, have nothing queued and nothing armed, have been given no
/// fault before, and not be used by anybody else during the call. Throws std::logic_error where it sees that this is not so,
/// and std::bad_alloc.
void inject_stall_fault(PTP_POOL pool, const stall_fault& fault);

/// Whether the fault has struck and nothing has been submitted since. Any thread may ask; false for a pool without the fault.
[[nodiscard]] bool has_stalled(PTP_POOL pool) noexcept;

}  // namespace tidepool::engine
