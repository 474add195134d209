#include "trace/recorder.hpp"

#include <cerrno>
#include <chrono>

#include "trace/buffer.hpp"
#include "trace/thread_segment.hpp"

namespace tidepool::recorder {

namespace {

// The segment that threads share which have none of their own; whoever takes it may find another has been quicker, or that
// it has become somebody's own, which the number in `thread` tells. Relaxed: it is only a guess.
constinit std::atomic<segment*> shared{nullptr};

segment* take_shared() noexcept {
  segment* const last = shared.load(std::memory_order_relaxed);
  if (last != nullptr && last->take()) {
    if (last->thread == 0 && !last->is_full()) {
      return last;
    }
    last->give_up();
  }
  segment* const next = take_next();
  if (next != nullptr) {
    next->thread = 0;
    shared.store(next, std::memory_order_relaxed);
  }
  return next;
}

std::uint64_t now() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace

void write_shared(kind what, action which, const void* target, std::uint64_t first, std::uint64_t second) noexcept {
  if (segment* const taken = take_shared()) {
    taken->append({now(), this_thread(), what, which, reinterpret_cast<std::uintptr_t>(target), first, second});
    taken->give_up();
  } else {
    lost.fetch_add(1, std::memory_order_relaxed);
  }
}

void write(kind what, action which, const void* target, std::uint64_t first, std::uint64_t second) noexcept {
  const keep_last_error kept;
  segment* own = own_segment();
  if (own == nullptr || own->is_full()) [[unlikely]] {
    own = next_own_segment(own);
    if (own == nullptr) {
      write_shared(what, which, target, first, second);
      return;
    }
  }
  own->writing.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own->append({now(), own->thread, what, which, reinterpret_cast<std::uintptr_t>(target), first, second});
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own->writing.store(false, std::memory_order_relaxed);
}

}  // namespace tidepool::recorder
