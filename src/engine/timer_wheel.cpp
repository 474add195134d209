#include "engine/timer_wheel.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "engine/assertion.hpp"

namespace tidepool::engine {

timer_wheel::timer_wheel() noexcept {
  for (timer_node& end : rings_) {
    end.next = &end;
    end.previous = &end;
  }
}

unsigned timer_wheel::slot_for(std::uint64_t moment) const noexcept {
  const std::uint64_t placed = std::max(moment, base_);  // what is overdue belongs to the slot that the base is in
  const std::uint64_t difference = (placed ^ base_) >> base_bits;
  const unsigned level = difference == 0 ? 0 : (63u - static_cast<unsigned>(std::countl_zero(difference))) / level_bits;
  const auto index = static_cast<unsigned>((placed >> shift_of(level)) & (slots_per_level - 1));
  return level * slots_per_level + index;
}

std::uint64_t timer_wheel::start_of(unsigned level, unsigned index) const noexcept {
  const unsigned above = shift_of(level + 1);
  const std::uint64_t prefix = above < 64 ? base_ >> above << above : 0;
  return prefix | (std::uint64_t{index} << shift_of(level));
}

int timer_wheel::lowest_level() const noexcept {
  for (unsigned level = 0; level != level_count; ++level) {
    if (occupied_[level] != 0) {
      return static_cast<int>(level);
    }
  }
  return -1;
}

void timer_wheel::link(timer_node& node) noexcept {
  const unsigned slot = slot_for(node.moment);
  node.slot = static_cast<std::uint16_t>(slot);
  timer_node& end = rings_[slot];
  node.next = &end;
  node.previous = end.previous;
  end.previous->next = &node;
  end.previous = &node;
  occupied_[slot / slots_per_level] |= std::uint64_t{1} << (slot % slots_per_level);
}

void timer_wheel::insert(timer_node& node, std::uint64_t moment, std::uint64_t now) noexcept {
  TIDEPOOL_ASSERT(!node.is_linked());
  if (size_ == 0) {
    base_ = now;
  } else {
    move_back_to(now);
  }
  node.moment = moment;
  link(node);
  ++size_;
}

void timer_wheel::remove(timer_node& node) noexcept {
  TIDEPOOL_ASSERT(node.is_linked() && size_ != 0);
  node.previous->next = node.next;
  node.next->previous = node.previous;
  if (node.next == node.previous) {  // both the end of the ring
    occupied_[node.slot / slots_per_level] &= ~(std::uint64_t{1} << (node.slot % slots_per_level));
  }
  node.next = nullptr;
  --size_;
}

/// The ring of the first slot of level 0 if it begins at `now` or earlier. Slots of other levels that do are spread
/// over the levels below first.
timer_node* timer_wheel::first_slot_until(std::uint64_t now) noexcept {
  for (;;) {
    const int level = lowest_level();
    if (level < 0) {
      return nullptr;
    }
    std::uint64_t& occupied = occupied_[level];
    const auto index = static_cast<unsigned>(std::countr_zero(occupied));
    const std::uint64_t start = start_of(static_cast<unsigned>(level), index);
    if (start > now) {
      return nullptr;
    }
    timer_node& end = rings_[static_cast<unsigned>(level) * slots_per_level + index];
    if (level == 0) {
      return &end;
    }
    base_ = start;
    timer_node* node = end.next;
    end.next = &end;
    end.previous = &end;
    occupied &= occupied - 1;
    while (node != &end) {
      timer_node& current = *node;
      node = node->next;
      link(current);
    }
  }
}

/// For a clock that was set back: everything is placed anew.
void timer_wheel::move_back_to(std::uint64_t now) noexcept {
  if (now >= base_) {
    return;
  }
  timer_node all;
  timer_node* last = &all;
  for (timer_node& end : rings_) {
    if (end.next != &end) {
      last->next = end.next;
      last = end.previous;
      end.next = &end;
      end.previous = &end;
    }
  }
  last->next = nullptr;
  std::fill(std::begin(occupied_), std::end(occupied_), 0);
  base_ = now;
  for (timer_node* node = all.next; node != nullptr;) {
    timer_node& current = *node;
    node = node->next;
    link(current);
  }
}

std::uint64_t timer_wheel::next() const noexcept {
  const int level = lowest_level();
  if (level < 0) {
    return never;
  }
  const auto index = static_cast<unsigned>(std::countr_zero(occupied_[level]));
  const timer_node& end = rings_[static_cast<unsigned>(level) * slots_per_level + index];
  std::uint64_t first = never;
  unsigned looked_at = 0;
  for (const timer_node* node = end.next; node != &end; node = node->next) {
    first = std::min(first, node->moment);
    if (level != 0 && ++looked_at == most_looked_at) {
      return start_of(static_cast<unsigned>(level), index);
    }
  }
  return first;
}

}  // namespace tidepool::engine
