#pragma once

#include <chrono>
#include <cstdint>

namespace tool {

/// The fault as tidepool's own engine can be made to have it.
struct stall_fault {
  std::chrono::microseconds window{1000};  ///< how long a pool without a thread takes to begin making one
  double probability = 0.004;              ///< that a removal in that time stalls the pool
  std::uint64_t seed = 1;
};

/// Whether there is an engine to inject it into, rather than a system.
bool stalls_can_be_injected() noexcept;

/// From here on the default pool has the fault.
void inject_stalls(const stall_fault& fault);

}  // namespace tool
