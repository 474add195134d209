// Whether a pool has to be repaired. docs/design/heal.md tells the fault, and why the rules are as they are.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidepool::heal {

/// Nanoseconds of a clock that only goes forwards, and never shows 0.
using moment = std::int64_t;

/// What happened to one pool, and when: each a moment that only moves forwards, so that nothing is ever taken back, and 0
/// for never.
///
/// Relaxed: a moment publishes nothing. What a tick overlooks, since it comes about at the same time, the next one sees.
class repair_state {
 public:
  /// How long a repair may take to begin before it counts as stuck.
  static constexpr moment patience = 5'000'000'000;

  /// A queued callback may just have been taken away from the pool, by anybody. The latest stays: a thread that was held up
  /// between reading the clock and this must not take back what another has noted since.
  void note_cancelled(moment now) noexcept { advance(cancelled_, now); }

  /// The repair has begun on a thread of the pool, which proves that it has one. Nothing else does. Here too the latest stays:
  /// two threads may run a repair that was submitted twice, and the earlier moment would make the pool look like one with a
  /// repair in flight.
  void note_started(moment now) noexcept { advance(started_, now); }

  enum class step : std::uint8_t {
    nothing,
    submit,        // the repair
    submit_again,  // the repair, which is stuck; and report that
    give_up,       // as before, for the second time and later
  };

  /// What the healer, and nobody else, does now. It goes by the moment before the repair is submitted.
  [[nodiscard]] step tick(moment now) noexcept {
    const moment started = started_.load(std::memory_order_relaxed);
    if (is_in_flight(started)) {
      if (now - submitted_.load(std::memory_order_relaxed) <= patience) {
        return step::nothing;
      }
      submitted_.store(now, std::memory_order_relaxed);
      const bool again = has_reattempted_;
      has_reattempted_ = true;
      return again ? step::give_up : step::submit_again;
    }
    has_reattempted_ = false;
    if (!is_unhealed(started)) {
      return step::nothing;
    }
    submitted_.store(now, std::memory_order_relaxed);
    return step::submit;
  }

  /// Whether a repair is still to come, or has not begun yet.
  [[nodiscard]] bool is_owed() const noexcept {
    const moment started = started_.load(std::memory_order_relaxed);
    return is_unhealed(started) || is_in_flight(started);
  }

 private:
  static void advance(std::atomic<moment>& what, moment now) noexcept {
    moment latest = what.load(std::memory_order_relaxed);
    while (latest < now && !what.compare_exchange_weak(latest, now, std::memory_order_relaxed)) {
    }
  }

  /// A repair that began at the very moment of the cancellation may have come before it.
  [[nodiscard]] bool is_unhealed(moment started) const noexcept {
    const moment cancelled = cancelled_.load(std::memory_order_relaxed);
    return cancelled != 0 && cancelled >= started;
  }
  [[nodiscard]] bool is_in_flight(moment started) const noexcept {
    return submitted_.load(std::memory_order_relaxed) > started;
  }

  std::atomic<moment> cancelled_{0};
  std::atomic<moment> started_{0};
  std::atomic<moment> submitted_{0};  // written by the healer
  bool has_reattempted_ = false;      // the healer's: since a repair was last found to have begun
};

}  // namespace tidepool::heal
