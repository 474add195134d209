// Private thread pools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "tidepool/native.hpp"

namespace tidepool {

/// How much address space a worker's stack gets, and how much of that is backed by memory from the start; bytes.
struct stack_size {
  std::size_t reserve = 0;
  std::size_t commit = 0;

  friend bool operator==(const stack_size&, const stack_size&) = default;
};

/// What a pool was doing at one moment. The figures are read while the pool runs, so they need not add up. One that
/// the platform does not tell is empty: Windows has no documented query for any of them, so there all are. For
/// finding out why callbacks do not run there is pool_snapshot (tidepool/snapshot.hpp), which has more, and reasons.
struct pool_statistics {
  std::optional<std::uint32_t> threads;           // those being started included
  std::optional<std::uint32_t> idle_threads;      // of them, those without a callback to run
  std::optional<std::uint64_t> queued_callbacks;  // submitted and not yet started
  std::optional<std::uint64_t> callbacks_run;     // finished since the pool was made
};

/// A pool of worker threads of its own, beside the process's default pool. Workers come as callbacks need them, and
/// leave when they have been idle for a while; blocked callbacks make the pool grow towards its maximum.
///
/// The pool is put to use by a callback environment (callback_environment::set_pool). Environments, and every object
/// made from one, share ownership of the native pool: destroying the `pool` object itself ends only the access to its
/// settings, waits for nothing, and may be done at any time, even in a callback of the pool. The native pool is closed
/// when its last owner goes.
///
/// Thread safety: any thread may call any member function, at the same time as others, unless the `pool` object
/// itself is being assigned, moved or destroyed. A moved-from pool can be destroyed and assigned to; any other use of
/// it ends the process with a message.
///
/// Win32: PTP_POOL.
class pool {
 public:
  /// Makes a pool without threads, with a maximum of 500 and a minimum of 0. Throws std::system_error when the system
  /// refuses. Win32: CreateThreadpool.
  pool();

  pool(pool&&) noexcept = default;
  pool& operator=(pool&&) noexcept = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() = default;

  /// Sets how many threads the pool may have; 0 counts as 1. A minimum above it is lowered to it. Threads beyond the
  /// new maximum finish their callbacks first. Win32: SetThreadpoolThreadMaximum.
  void set_max_threads(std::uint32_t maximum) noexcept;

  /// Sets how many threads the pool keeps even when idle, and starts them before it returns. A maximum below it is
  /// raised to it. Throws std::system_error when the threads cannot be made; the old minimum then stays.
  /// Win32: SetThreadpoolThreadMinimum.
  void set_min_threads(std::uint32_t minimum);

  /// Sets the stack of workers that are started from now on. The value is not checked here, and applied as far as the
  /// system allows. Throws std::system_error when the system refuses it. Win32: SetThreadpoolStackInformation.
  void set_stack_size(stack_size size);

  /// What was set, or the program's default. Throws std::system_error when the system does not tell.
  /// Win32: QueryThreadpoolStackInformation.
  [[nodiscard]] stack_size get_stack_size() const;

  /// A snapshot of this pool; see pool_statistics. Takes the pool's lock for a short time, so it is for diagnosis
  /// rather than for every callback.
  [[nodiscard]] pool_statistics statistics() const;

  /// A snapshot of the process's default pool.
  [[nodiscard]] static pool_statistics default_pool_statistics();

 private:
  friend struct detail::access;

  std::shared_ptr<::_TP_POOL> native_;
};

/// Returns when a thread of the process's default pool has begun a callback, so that there is one: what is queued there
/// next need not wait until a thread has been started, nor, on Windows, risk that none ever is (docs/design/heal.md). The
/// thread leaves when it has been idle for as long as the pool's threads may.
///
/// Any thread may call it. In a callback of the default pool it is of no use, and takes a second thread. Throws
/// std::system_error when the system refuses. Cost: the start of a thread, and otherwise one callback.
/// Win32: a work item of the default pool, SubmitThreadpoolWork, WaitForThreadpoolWorkCallbacks(…, FALSE).
void prewarm_default_pool();

}  // namespace tidepool
