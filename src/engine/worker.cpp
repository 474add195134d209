#include "engine/worker.hpp"

#include "engine/blocking_region.hpp"
#include "engine/poller.hpp"
#include "engine/pool.hpp"

namespace tidepool::engine {

constinit thread_local worker* worker::current_ = nullptr;

void worker::note_fork() noexcept {
  if (current_ != nullptr) {
    current_->excused.store(true, std::memory_order_relaxed);  // it will look after that: _TP_POOL::end_excuse()
    current_ = nullptr;
  }
}

bool worker::sleep(std::int64_t nanoseconds) noexcept {
  const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  for (bool waited = false;; waited = true) {
    // Acquire: pairs with the release in wake(), so that what the waker did is seen.
    const std::uint32_t received = wakes_.load(std::memory_order_acquire);
    if (is_after(received)) {
      return true;
    }
    if (waited && nanoseconds >= 0) {
      return false;  // the caller measures time itself
    }
    futex_wait(wakes_, received, nanoseconds < 0 ? nullptr : &limit);
  }
}

void worker::wake() noexcept {
  // Counts, then looks whether the worker sits; the worker sits down, or rises, and then looks at the count.
  // Sequentially consistent, so that one of them sees the other. Once it has been counted the worker may be gone:
  // only its address is used.
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  if (poller::instance().is_sitter(this)) {
    poller::instance().call_sitter();
  } else {
    futex_wake(wakes_, 1);
  }
}

blocking_region::blocking_region() noexcept {
  if (worker* const self = worker::current()) {
    excused_ = self->pool.excuse(*self);
  }
}

blocking_region::~blocking_region() {
  if (excused_) {
    worker& self = *worker::current();
    self.pool.end_excuse(self);
  }
}

}  // namespace tidepool::engine
