// A pair of fences for two-sided hand-shakes in which one side is hot and the other rare.
#pragma once

#include <atomic>

namespace tidepool::engine {

/// A full fence on this thread. A read-modify-write and not a stand-alone fence: thread sanitizers understand it.
inline void full_fence() noexcept {
  std::atomic<int> own{0};
  own.exchange(0, std::memory_order_seq_cst);
}

/// True once the kernel has agreed to do heavy_fence()'s work (membarrier, private expedited).
extern const bool kernel_fences;

/// The hot side: between a store and a later load. With the kernel's help it only stops the compiler;
/// a heavy_fence() on another thread then acts as if this were a full fence.
inline void light_fence() noexcept {
  if (kernel_fences) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    full_fence();
  }
}

/// The rare side: a full fence on this thread and, as if they ran it at this moment, on every thread of the
/// process. Interrupts the processors that run one of them; sleeping threads cost nothing.
void heavy_fence() noexcept;

}  // namespace tidepool::engine
