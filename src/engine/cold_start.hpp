// The time until a pool's first thread, of a pool with the fault of stall_fault.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>

#include "engine/futex_lock.hpp"
#include "engine/stall_fault.hpp"

struct _TP_POOL;

namespace tidepool::engine {

struct packet;
struct callback_object;

/// What arrives while it lasts is put on the port, where it waits for the thread; a submission goes its usual way, and the
/// thread that it starts is what ends it. Shared with the thread that waits until the first one is due.
class cold_start : public std::enable_shared_from_this<cold_start> {
 public:
  cold_start(_TP_POOL& pool, const stall_fault& fault);

  /// Whether the pool is without a thread, and none but a submission, a minimum and the end of the window may give it one.
  /// Once false, false for ever.
  [[nodiscard]] bool lasts() const noexcept { return now() != phase::over; }
  /// Whether the first thread is being made.
  [[nodiscard]] bool makes_thread() const noexcept { return now() == phase::making; }
  [[nodiscard]] bool has_stalled() const noexcept { return now() == phase::stalled; }

  /// Queues what has arrived. False when it is over: then the caller does.
  bool keep(packet& entry) noexcept;
  /// Takes an object's packet off the port, when all that it stands for has been dropped. This is where the fault strikes.
  void take_back(callback_object& object) noexcept;
  /// By who is going to start a thread, or to destroy the pool. Whatever was kept is on the port.
  void end() noexcept;
  /// The same by _TP_POOL::end_cold_start(), which this calls with the lock held.
  void conclude() noexcept { become(phase::over); }

 private:
  enum class phase : std::uint32_t {
    cold,     // nothing has arrived
    making,   // the first thread takes its time
    stalled,  // what arrives is queued, and that is all
    over,
  };

  [[nodiscard]] phase now() const noexcept { return static_cast<phase>(phase_.load(std::memory_order_relaxed)); }
  void become(phase next) noexcept;
  bool strikes() noexcept;
  void start_maker() noexcept;
  static void* maker_main(void* argument) noexcept;
  void await_due() noexcept;

  _TP_POOL& pool_;
  const std::int64_t window_;
  const double probability_;
  futex_lock lock_;  // comes before the pool's
  std::mt19937_64 chance_;
  std::int64_t due_ = 0;  // set before the thread that waits for it is started
  // The futex that thread sleeps on. Changed with the lock held; relaxed, since who acts on what it says takes that lock, or
  // finds what matters under the pool's.
  std::atomic<std::uint32_t> phase_;
};

}  // namespace tidepool::engine
