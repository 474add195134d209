#include "engine/dispatcher_object.hpp"

namespace tidepool::engine {

constinit futex_lock joint_lock;

void dispatcher_object::enqueue(wait_block& block) noexcept {
  TIDEPOOL_ASSERT(!block.queued);
  block.queued = true;
  block.next = nullptr;
  block.previous = last_;
  (last_ == nullptr ? first_ : last_->next) = &block;
  last_ = &block;
  joint_waits_ += block.joint ? 1u : 0u;
  if (first_ == last_) {
    waiters_came();
  }
}

void dispatcher_object::dequeue(wait_block& block) noexcept {
  TIDEPOOL_ASSERT(block.queued);
  block.queued = false;
  (block.previous == nullptr ? first_ : block.previous->next) = block.next;
  (block.next == nullptr ? last_ : block.next->previous) = block.previous;
  joint_waits_ -= block.joint ? 1u : 0u;
  if (first_ == nullptr) {
    waiters_gone();
  }
}

void dispatcher_object::satisfy_waiters(deferred_actions& later) noexcept {
  for (wait_block* block = first_; block != nullptr && is_signalled_for(block->thread);) {
    wait_block& current = *block;
    block = current.next;  // first: whoever takes the signal may destroy the block
    current.offer(current, *this, later);
  }
}

}  // namespace tidepool::engine
