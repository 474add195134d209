// The part of local_queue that deals with callback objects. Inline, and here, because it is the path of every
// submission and every run, and needs the object, the pool and the queue whole.
#pragma once

#include <utility>

#include "engine/asymmetric_fence.hpp"
#include "engine/callback_object.hpp"
#include "engine/pool.hpp"

namespace tidepool::engine {

inline void local_queue::have_attended() noexcept {
  if (fences_lightly()) [[likely]] {
    light_fence();
  } else {
    fences_lightly_.store(true, std::memory_order_relaxed);
    full_fence();  // pairs with the full fence in _TP_POOL::fence_owners()
  }
  if (!pool_.attended()) [[unlikely]] {
    pool_.call_attendant();
  }
}

inline bool local_queue::submit_next(callback_object& object) noexcept {
  if (pool_.port().summary() != 0 || backlog() != 0) {
    return false;
  }
  {
    const owner_guard guard(section_);  // what was nothing a moment ago is nothing now: only the owner adds
    object.state.submit_claimed();
    next_ = &object;
    queued_.store(1, std::memory_order_relaxed);
  }
  have_attended();
  return true;
}

inline work_state::claimed local_queue::claim(callback_object& object) noexcept {
  work_state::claimed got{};
  {
    const owner_guard guard(section_);
    const bool alone = queued() == 0 && pool_.port().summary() == 0;
    got = object.state.claim(alone ? work_state::everything : 1);
    if (got.count != 0) {
      claimed_ = &object;
      claim_left_.store(got.count - 1, std::memory_order_relaxed);
    }
  }
  if (got.count > 1) {
    have_attended();
  }
  return got;
}

inline local_queue::step local_queue::advance([[maybe_unused]] const callback_object& object) noexcept {
  share_if_asked();
  const owner_guard guard(section_);
  TIDEPOOL_ASSERT(claimed_ == &object);
  const std::uint64_t left = claim_left();
  const bool port_empty = pool_.port().summary() == 0;
  if (left != 0) {
    if (port_empty && queued() == 0) {
      claim_left_.store(left - 1, std::memory_order_relaxed);
      return {true, nullptr};
    }
    put_back(0, left);  // others wait: the rest goes to the end of the queue
  } else if (next_ != nullptr && port_empty) {
    claimed_ = std::exchange(next_, nullptr);
    publish_queued();
    return {false, claimed_};
  }
  claimed_ = nullptr;
  return {false, nullptr};
}

inline void local_queue::release_claim([[maybe_unused]] const callback_object& object) noexcept {
  const owner_guard guard(section_);
  TIDEPOOL_ASSERT(claimed_ == &object);
  put_back(0, claim_left());
  claimed_ = nullptr;
}

inline local_queue::revoked local_queue::revoke(const callback_object& object) noexcept {
  revoked result{claimed_ == &object ? claim_left_.exchange(0, std::memory_order_relaxed) : 0, false};
  if (next_ == &object) {
    next_ = nullptr;
    publish_queued();
    result = {result.submissions + 1, true};
  }
  return result;
}

}  // namespace tidepool::engine
