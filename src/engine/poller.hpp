// Who waits for the clocks and the descriptors, for all pools together.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>

#include "engine/timer_service.hpp"
#include "tidepool/win32/threadpoolapiset.h"

namespace tidepool::engine {

struct worker;
class descriptor_object;

/// One of the process's idle workers takes the *seat*: it sleeps until something happens that a timer or a wait on a
/// descriptor has been armed for, or until its pool calls it. So what happens costs one wake-up, and an idle process
/// has one thread, or none when nothing is armed.
///
/// The seat is empty while its last holder runs callbacks. Then workers look, without sleeping, whenever they run out
/// of callbacks; and the *guard* sees to it that somebody does: a thread that naps, takes the seat itself when
/// nobody has looked during a nap, and goes when it has not been needed for long.
///
///   Served: whenever something is armed, the seat is taken, or the guard is awake (or no thread could be made).
///   Every change that could break this is followed by a look: arming the first (ensure_served), leaving the seat
///   (leave), the guard's going to sleep. How one of two that meet sees the other: see interest_.
class poller final : alarm_clock {
 public:
  static poller& instance() noexcept;

  /// Makes the descriptors it needs. What can be armed calls it when it is made, since arming must not fail.
  bool open() noexcept;
  static bool ready() noexcept { return instance().open(); }

  /// Closes the descriptors it has made. In the child of a fork they are the parent's.
  void abandon() noexcept;
  /// For the child of a fork, which has no thread and nothing armed: replaces them.
  bool reopen() noexcept;
  /// Whether it has been told of descriptors that it could wait for.
  [[nodiscard]] static bool has_targets() noexcept;

  timer_service timers{*this};

  /// For the targets of events: how many have somebody who waits for them. With the target's lock held.
  void begin_interest() noexcept;
  void end_interest() noexcept;
  [[nodiscard]] int epoll() const noexcept { return epoll_; }
  /// Event data from here on is a poll_target's key.
  static constexpr std::uint64_t first_descriptor_key = 8;

  /// After something was armed, with no lock held: makes sure that somebody looks for it, preferably a thread of
  /// `pool`.
  void ensure_served(_TP_POOL& pool) noexcept {
    if (unserved()) [[unlikely]] {
      serve(pool);
    }
  }
  /// For who arms one more of several.
  [[nodiscard]] bool is_served() const noexcept { return !unserved(); }
  /// By a worker that begins to run callbacks: it may have been on its way to the seat.
  void ensure_guarded() noexcept {
    if (unserved()) [[unlikely]] {
      wake_guard();
    }
  }

  // ---- for workers ----

  /// Whether something is armed and the seat is empty.
  [[nodiscard]] bool wants_sitter() const noexcept {
    return interest_.load(std::memory_order_seq_cst) != 0 && seat_.load(std::memory_order_seq_cst) == nullptr;
  }
  /// By an idle worker: takes the seat, if it is wanted, until there is something to run, its pool calls it, or nothing
  /// is armed and `patience` nanoseconds are over. False when it was not.
  bool sit(worker& self, std::int64_t patience) noexcept;
  /// By a worker that watches its pool: sleeps for `nanoseconds`, or until its pool calls it. It does so in the seat if
  /// that is wanted, and then what happens ends the sleep too.
  void nap(worker& self, std::int64_t nanoseconds) noexcept;
  /// Looks once. Returns whether something happened.
  bool look() noexcept;
  [[nodiscard]] bool is_sitter(const worker* who) const noexcept {
    return seat_.load(std::memory_order_seq_cst) == who;
  }
  /// Wakes whoever sits.
  void call_sitter() noexcept;

  /// How often a clock's alarm has been answered.
  [[nodiscard]] std::uint64_t alarms() const noexcept { return alarms_.load(std::memory_order_relaxed); }

 private:
  enum class guard_state : std::uint8_t { none, awake, asleep };

  poller() = default;

  [[nodiscard]] std::uint64_t now(clock_kind of) const noexcept override;
  void set(clock_kind of, std::uint64_t moment) noexcept override;
  void begin(clock_kind) noexcept override { begin_interest(); }
  void end(clock_kind) noexcept override { end_interest(); }

  [[nodiscard]] bool unserved() const noexcept {
    return wants_sitter() && guard_.load(std::memory_order_seq_cst) != guard_state::awake;
  }
  void serve(_TP_POOL& pool) noexcept;
  bool take_seat(worker& self) noexcept;
  void leave() noexcept;
  bool wait(int milliseconds) noexcept;
  bool handle(const epoll_event* events, int count, const worker* self) noexcept;
  void wake_guard() noexcept;
  static void* guard_main(void* self) noexcept;
  void stand_guard() noexcept;
  bool guard_sleeps() noexcept;

  futex_lock lock_;  // comes before a pool's lock
  // Changed with the lock held.
  std::atomic<worker*> seat_{nullptr};
  std::atomic<guard_state> guard_{guard_state::none};
  // How many clocks and descriptors are armed. Whoever arms raises it and then looks at the two above; whoever leaves
  // the seat or goes to sleep says so there and then looks at this. Sequentially consistent, so that one sees the other.
  std::atomic<std::int64_t> interest_{0};
  std::atomic<bool> long_sit_{false};  // the sitter will not look by itself whether anything is still armed
  std::atomic<std::uint32_t> looks_{0};
  std::atomic<std::uint32_t> guard_calls_{0};  // the futex the guard sleeps on
  std::atomic<std::uint64_t> alarms_{0};

  std::atomic<bool> open_{false};
  int epoll_ = -1;
  int call_ = -1;  // an eventfd that wakes the sitter
  int clocks_[clock_count] = {-1, -1};
};

}  // namespace tidepool::engine
