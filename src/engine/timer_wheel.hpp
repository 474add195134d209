// Which of many moments comes next: a hierarchical timing wheel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidepool::engine {

/// One moment in a wheel, part of what waits for it.
struct timer_node {
  timer_node() = default;
  timer_node(const timer_node&) = delete;
  timer_node& operator=(const timer_node&) = delete;

  [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }

  timer_node* next = nullptr;
  timer_node* previous = nullptr;
  std::uint64_t moment = 0;
  std::uint16_t slot = 0;
};

/// Moments are nanoseconds of one clock. Inserting and removing take the same few steps for ten nodes and for
/// millions, and need no memory. Which level and slot a node is in depends on the highest bits in which its moment
/// differs from `base_`, the moment up to which everything has expired: slots of level 0 are 1,024 ns wide, those
/// of each further level 64 times as wide as those of the one below, and all of a level comes after all of the
/// levels below it. No synchronisation of its own.
class timer_wheel {
 public:
  static constexpr std::uint64_t never = UINT64_MAX;

  timer_wheel() noexcept;
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The latest time it has been told of.
  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }

  /// Inserts `node` at `moment`. `now` is the time of the clock, which may have been set back since.
  void insert(timer_node& node, std::uint64_t moment, std::uint64_t now) noexcept;
  void remove(timer_node& node) noexcept;

  /// Removes the nodes whose moment has come, those of earlier slots first, and calls `expired(node)` for each, which
  /// may insert it again later than `now`.
  template <class Expired>
  void expire(std::uint64_t now, Expired expired) noexcept {
    move_back_to(now);
    while (timer_node* const end = first_slot_until(now)) {
      bool left = false;
      for (timer_node* node = end->next; node != end;) {
        timer_node& current = *node;
        node = node->next;
        if (current.moment <= now) {
          remove(current);
          expired(current);
        } else {
          left = true;
        }
      }
      if (left) {
        break;  // the slot that `now` is in
      }
    }
    base_ = now;
  }

  /// When to call expire() next: not after the first moment, and hardly ever before it. `never` when it is empty.
  [[nodiscard]] std::uint64_t next() const noexcept;

 private:
  static constexpr unsigned base_bits = 10;
  static constexpr unsigned level_bits = 6;
  static constexpr unsigned slots_per_level = 1u << level_bits;
  static constexpr unsigned level_count = (64 - base_bits + level_bits - 1) / level_bits;
  /// How many nodes next() looks at to find the first: with more it settles for the beginning of their slot.
  static constexpr unsigned most_looked_at = 32;

  static constexpr unsigned shift_of(unsigned level) noexcept { return base_bits + level * level_bits; }
  [[nodiscard]] unsigned slot_for(std::uint64_t moment) const noexcept;
  [[nodiscard]] std::uint64_t start_of(unsigned level, unsigned index) const noexcept;
  [[nodiscard]] int lowest_level() const noexcept;
  timer_node* first_slot_until(std::uint64_t now) noexcept;
  void move_back_to(std::uint64_t now) noexcept;
  void link(timer_node& node) noexcept;

  std::uint64_t base_ = 0;
  std::size_t size_ = 0;
  std::uint64_t occupied_[level_count] = {};         // one bit per slot
  timer_node rings_[level_count * slots_per_level];  // each the end of the ring of its slot's nodes
};

}  // namespace tidepool::engine
