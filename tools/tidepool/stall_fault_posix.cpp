#include "stall_fault.hpp"

#include "engine/stall_fault.hpp"

namespace tool {

bool stalls_can_be_injected() noexcept { return true; }

void inject_stalls(const stall_fault& fault) {
  tidepool::engine::inject_stall_fault(nullptr, {fault.window, fault.probability, fault.seed});
}

}  // namespace tool
