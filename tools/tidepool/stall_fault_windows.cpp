#include <stdexcept>

#include "stall_fault.hpp"

namespace tool {

bool stalls_can_be_injected() noexcept { return false; }

void inject_stalls(const stall_fault&) { throw std::logic_error("the thread pool is Windows's own"); }

}  // namespace tool
