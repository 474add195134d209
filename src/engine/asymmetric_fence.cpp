#include "engine/asymmetric_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tidepool::engine {

// Initialised before main; a pool used by an earlier static initialiser sees false and pays for full fences
// on its hot side, which is correct together with either form of heavy_fence().
const bool kernel_fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

void heavy_fence() noexcept {
  full_fence();
  if (kernel_fences) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
}

}  // namespace tidepool::engine
