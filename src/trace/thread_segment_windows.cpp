#ifdef _WIN32

#include "trace/thread_segment.hpp"

namespace tidepool::recorder {

namespace {

// Not thread_local: MinGW's allocates, and goes before a thread's last destructors. Relaxed: a thread that does not see it
// yet shares a segment.
constinit std::atomic<DWORD> slot{FLS_OUT_OF_INDEXES};

// What the slot holds while a thread ends.
constinit segment ending;

void NTAPI end_thread(void* own) noexcept {
  if (own != nullptr && own != &ending) {
    FlsSetValue(slot.load(std::memory_order_relaxed), &ending);
    static_cast<segment*>(own)->give_up();
  }
}

}  // namespace

void prepare_threads() noexcept {
  static const DWORD allocated = FlsAlloc(&end_thread);
  slot.store(allocated, std::memory_order_relaxed);
}

std::uint32_t this_thread() noexcept { return GetCurrentThreadId(); }

segment* own_segment() noexcept {
  const DWORD at = slot.load(std::memory_order_relaxed);
  auto* const own = at != FLS_OUT_OF_INDEXES ? static_cast<segment*>(FlsGetValue(at)) : nullptr;
  return own != &ending ? own : nullptr;
}

segment* next_own_segment(segment* full) noexcept {
  const DWORD at = slot.load(std::memory_order_relaxed);
  if (at == FLS_OUT_OF_INDEXES || FlsGetValue(at) == &ending) {
    return nullptr;
  }
  segment* next = take_next();
  if (next != nullptr) {
    next->thread = this_thread();
  }
  if (!FlsSetValue(at, next) && next != nullptr) {
    next->give_up();  // no memory for the slot
    next = nullptr;
  }
  if (full != nullptr) {
    full->give_up();
  }
  return next;
}

}  // namespace tidepool::recorder

#endif
