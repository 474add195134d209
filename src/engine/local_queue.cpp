#include "engine/local_queue.hpp"

#include <algorithm>
#include <utility>

#include "engine/callback_object.hpp"
#include "engine/claims.hpp"
#include "engine/pool.hpp"

namespace tidepool::engine {

namespace {

/// What is worth a trip through the pool's lock, but leaves the rest of a long queue where it is.
constexpr std::size_t largest_share = 256;
/// How many callbacks go to the port in one trip.
constexpr std::size_t largest_consignment = 56;

}  // namespace

/// Queues something of `level` by `add(queue)` where its order allows, or collects it for the port.
template <class Add>
local_queue::push_result local_queue::push_with(unsigned level, Add add) noexcept {
  {
    const owner_guard guard(section_);
    const bool older_than_port = pool_.port().summary() == 0 && outgoing_.empty() &&
                                 (entries_.empty() || entries_level_ == level) &&
                                 (next_ == nullptr || next_->level() == level);
    if (older_than_port) {
      if (!add(entries_)) {
        return push_result::needs_bundle;
      }
      entries_level_ = level;
    } else {
      if (!pool_.has_several_workers() || (!outgoing_.empty() && outgoing_level_ != level)) {
        return push_result::refused;
      }
      if (!add(outgoing_)) {
        return push_result::needs_bundle;
      }
      outgoing_level_ = level;
      if (outgoing_.size() >= largest_consignment) {
        send_outgoing();
      }
    }
    publish_queued();
  }
  have_attended();
  share_if_asked();
  return push_result::queued;
}

local_queue::push_result local_queue::push(packet& entry) noexcept {
  return push_with(entry.level(), [&entry](packet_queue& queue) {
    queue.push_back(entry);
    return true;
  });
}

bool local_queue::push_overtaking(packet& entry) noexcept {
  if (!may_overtake_ || !pool_.has_several_workers()) {
    return false;
  }
  {
    const owner_guard guard(section_);
    if (next_ != nullptr || (!entries_.empty() && entries_level_ != entry.level())) {
      return false;
    }
    entries_.push_front(entry);
    entries_level_ = entry.level();
    publish_queued();
  }
  overtaking_ = &entry;
  may_overtake_ = false;
  have_attended();
  share_if_asked();
  return true;
}

local_queue::push_result local_queue::push(const callback_record& record, unsigned level, bundle*& fresh) noexcept {
  return push_with(level, [&](packet_queue& queue) { return queue.push_back(record, fresh); });
}

bool local_queue::pop(task& into) noexcept {
  if (queued() == 0) {
    return false;  // only the owner adds
  }
  share_if_asked();
  const owner_guard guard(section_);
  if (next_ != nullptr) {
    if (pool_.port().has_above(next_->level())) {
      return false;
    }
    claimed_ = std::exchange(next_, nullptr);
    publish_queued();
    into.entry = claimed_;
    return true;
  }
  if (entries_.empty()) {
    send_outgoing();  // what is on the port comes first
    publish_queued();
    return false;
  }
  if (pool_.port().has_above(entries_level_)) {
    return false;
  }
  entries_.pop_front(into);
  publish_queued();
  may_overtake_ = overtaking_ == nullptr || into.entry != overtaking_;
  overtaking_ = nullptr;
  return true;
}

void local_queue::keep(packet_queue& taken, unsigned level) noexcept {
  {
    const owner_guard guard(section_);
    TIDEPOOL_ASSERT(entries_.empty() && next_ == nullptr);
    entries_.append(taken);
    entries_level_ = level;
    publish_queued();
  }
  have_attended();
}

void local_queue::surrender() noexcept {
  const owner_guard guard(section_);
  put_all_back();
}

void local_queue::share() noexcept {
  asked_to_share_.store(false, std::memory_order_relaxed);
  const owner_guard guard(section_);
  put_back(std::min(entries_.size() / 2, largest_share), claim_left() / 2);
  send_outgoing();
  publish_queued();
}

void local_queue::take_away() noexcept {
  section_.announce_visit();
  heavy_fence();
  section_.await_owner();
  put_all_back();
  appetite_.store(1, std::memory_order_relaxed);
  section_.leave_visit();
}

/// Inside the section: puts the oldest `entries` and `claimed` submissions of the claim back into the port.
void local_queue::put_back(std::size_t entries, std::uint64_t claimed) noexcept {
  if (claimed != 0) {
    claim_left_.store(claim_left() - claimed, std::memory_order_relaxed);
    if (claimed_->state.submit(claimed)) {
      pool_.push(*claimed_);
    }
  }
  if (entries != 0) {
    packet_queue moved;
    moved.take(entries_, entries);
    pool_.give_back(moved, entries_level_);
  }
}

/// Inside the section: puts everything back. What is next is the oldest, so it goes in front last.
void local_queue::put_all_back() noexcept {
  send_outgoing();
  put_back(entries_.size(), claim_left());
  if (callback_object* const object = std::exchange(next_, nullptr)) {
    const unsigned level = object->level();
    if (object->state.unclaim()) {
      packet_queue moved;
      moved.push_back(*object);
      pool_.give_back(moved, level);
    }
  }
  publish_queued();
}

/// Inside the section.
void local_queue::send_outgoing() noexcept {
  if (!outgoing_.empty()) {
    pool_.push_all(outgoing_, outgoing_level_);
  }
}

}  // namespace tidepool::engine
