// The completion port of a pool: one queue per priority level.
#pragma once

#include <atomic>
#include <bit>

#include "engine/packet_queue.hpp"

namespace tidepool::engine {

/// Guarded by its pool's lock, except for the summary, which anybody may look at.
class completion_port {
 public:
  /// Lets `change` queue something on a level; returns what it returns.
  template <class Change>
  auto update(unsigned level, Change change) noexcept {
    packet_queue& queue = levels_[level];
    const std::size_t before = queue.size();
    const auto result = change(queue);
    depth_ += queue.size() - before;
    summarise(level);
    return result;
  }

  /// Takes the oldest of the most urgent out. Not to be called on an empty port.
  void pop(task& into) noexcept {
    update(highest(), [&into](packet_queue& queue) { return queue.pop_front(into), true; });
  }

  /// Takes about `count` of the most urgent, of one level, which is returned. Not to be called on an empty port.
  unsigned take(packet_queue& into, std::size_t count) noexcept {
    const unsigned level = highest();
    update(level, [&](packet_queue& queue) { return into.take(queue, count), true; });
    return level;
  }

  template <class Visit>
  void for_each(Visit visit) const noexcept {
    for (const packet_queue& queue : levels_) {
      queue.for_each(visit);
    }
  }

  /// Callbacks; a work object's entry counts as one, however many submissions it stands for.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

  /// One bit per level that has entries. Without the lock it is a hint, or, on the thread that changed the
  /// port last, exact. Relaxed: whoever acts on it takes the lock first, and what it misses is seen by the
  /// pool's attendants (factory.cpp).
  [[nodiscard]] unsigned summary() const noexcept { return summary_.load(std::memory_order_relaxed); }

  /// True when a level more urgent than `level` has entries.
  [[nodiscard]] bool has_above(unsigned level) const noexcept { return (summary() & ((1u << level) - 1)) != 0; }

 private:
  [[nodiscard]] unsigned highest() const noexcept { return static_cast<unsigned>(std::countr_zero(summary())); }

  void summarise(unsigned level) noexcept {
    const unsigned bit = 1u << level;
    const unsigned now = levels_[level].empty() ? summary() & ~bit : summary() | bit;
    if (now != summary()) {
      summary_.store(now, std::memory_order_relaxed);
    }
  }

  packet_queue levels_[level_count];
  std::size_t depth_ = 0;
  std::atomic<unsigned> summary_{0};
};

}  // namespace tidepool::engine
