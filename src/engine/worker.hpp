// One worker thread of a pool.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "engine/local_queue.hpp"

namespace tidepool::engine {

/// What a worker is doing, as its pool counts it. Changes only with the pool's lock held; read without it as a
/// hint (relaxed).
enum class worker_role : std::uint8_t {
  vacant,     // there is no thread; the structure waits for one
  running,    // runs callbacks
  searching,  // awake, looking for something to run
  watching,   // sleeps for short times and keeps an eye on what is queued behind running callbacks
  idle,       // sleeps until it is woken
};

/// Made by its pool and kept until the pool dies, so that others may look at it without the lock; threads come
/// and go in it.
struct worker {
  explicit worker(_TP_POOL& of) noexcept : pool(of), queue(of) {}

  /// The worker whose thread this is, or null.
  static worker* current() noexcept { return current_; }
  /// In the child of a fork: if this was a worker, it is none any more, and must not go on when its callback returns.
  static void note_fork() noexcept;

  [[nodiscard]] worker_role current_role() const noexcept { return role.load(std::memory_order_relaxed); }
  /// Whether its thread has been asked for and has not begun. With the pool's lock held.
  [[nodiscard]] bool is_starting() const noexcept {
    return current_role() != worker_role::vacant && thread_id.load(std::memory_order_relaxed) == 0;
  }

  /// Callbacks this worker has finished. Written by its own thread only; relaxed: a statistic and a sign of life.
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_relaxed); }
  void note_completed() noexcept { completed_.store(completed() + 1, std::memory_order_relaxed); }

  // ---- sleeping: whoever changes the role of a sleeper owes it a wake() (the pool's lock guards the owing) ----

  /// With the pool's lock held: a sleep that begins now ends with a wake-up that is owed from now on.
  void prepare_sleep() noexcept { slept_after_.store(wakes_owed, std::memory_order_relaxed); }
  /// Returns whether it was woken. May return early, and does when the time is over (nanoseconds; negative: no
  /// limit, and never early).
  bool sleep(std::int64_t nanoseconds) noexcept;
  /// Whether a sleep that was prepared is over, for a worker that sleeps in the poller's seat. Pairs with wake().
  [[nodiscard]] bool is_woken() const noexcept { return is_after(wakes_.load(std::memory_order_seq_cst)); }
  void wake() noexcept;
  /// A worker must not go before the wake-ups that are owed to it have come. With the pool's lock held.
  [[nodiscard]] bool all_wakes_received() const noexcept {
    // Acquire: pairs with the release in wake(), after which the waker only uses the address.
    return wakes_.load(std::memory_order_acquire) == wakes_owed;
  }

  _TP_POOL& pool;

  // Guarded by the pool's lock.
  worker* next_of_all = nullptr;  // set before the worker is published
  worker* idle_newer = nullptr;
  worker* idle_older = nullptr;
  worker* next_to_wake = nullptr;  // when the pool is closed
  std::uint32_t wakes_owed = 0;    // ever
  std::atomic<worker_role> role{worker_role::vacant};
  /// Running but held up, so that another may run in its place. Set and cleared with the pool's lock held; its
  /// own thread looks without (relaxed: it acts on it with the lock).
  std::atomic<bool> excused{false};

  /// What the pool's watcher saw of it last. Relaxed: observations, compared with later ones; one watcher may
  /// still look while the next one already does.
  struct {
    std::atomic<std::uint64_t> completed{~std::uint64_t{0}};
    std::atomic<std::int64_t> cpu_time{-1};
    std::atomic<std::int64_t> at{0};
  } seen;
  /// Callbacks it has finished since the watcher looked last.
  [[nodiscard]] std::uint64_t completed_since_seen() const noexcept {
    return completed() - seen.completed.load(std::memory_order_relaxed);
  }
  /// 0 while there is no thread. Relaxed: used to ask the system about the thread, who may be gone.
  std::atomic<pid_t> thread_id{0};

  /// The pool's state is two lines up to here; what the thread itself writes all the time comes after.
  alignas(128) local_queue queue;

  /// constinit: other sources reach it without a call that would see to its initialisation.
  static constinit thread_local worker* current_ __attribute__((tls_model("initial-exec")));

  /// Looking after others, every now and then, while it never runs dry itself (pool::look_for_stranded).
  std::uint32_t callbacks_run = 0;
  worker* looked_at = nullptr;
  std::uint64_t looked_at_completed = 0;

 private:
  [[nodiscard]] bool is_after(std::uint32_t received) const noexcept {
    return static_cast<std::int32_t>(received - slept_after_.load(std::memory_order_relaxed)) > 0;
  }

  std::atomic<std::uint64_t> completed_{0};
  alignas(128) std::atomic<std::uint32_t> wakes_{0};  // received; the futex
  std::atomic<std::uint32_t> slept_after_{0};         // relaxed: a change of it is followed by a wake-up
};

}  // namespace tidepool::engine
