// A picture of the thread pools of this process, for finding out why callbacks do not run.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tidepool/callback_environment.hpp"
#include "tidepool/observation.hpp"
#include "tidepool/pool.hpp"

namespace tidepool {

/// Whose a pool is.
enum class pool_kind {
  process_default,  // used by whatever names no other
  own,              // made by the program, tidepool::pool or CreateThreadpool
  internal,         // made by the library for itself: on Linux for requests on files that block
};

/// What only NT's worker factories have, under the names that the field knows them by (WorkerFactoryBasicInformation).
/// Microsoft does not document them.
struct nt_factory_flags {
  bool timer_set = false;
  bool queued_to_ex_worker = false;
  bool inserted_into_queue = false;
  bool paused = false;
  bool shutdown = false;
  std::uint32_t binding_count = 0;
  std::uint32_t pending_worker_count = 0;
  std::uint32_t release_count = 0;
  std::int32_t last_thread_creation_status = 0;

  friend bool operator==(const nt_factory_flags&, const nt_factory_flags&) = default;
};

/// One pool, which is to say one worker factory. Whatever the platform does not tell says why.
struct pool_snapshot {
  /// Tells pools apart, and the same pool in two snapshots while it lives. Not 0 for a pool that was seen. The native pool's
  /// address, which a later pool may have again.
  std::uintptr_t id = 0;
  observation<pool_kind> kind;

  // ---- threads ----
  observation<std::uint32_t> threads;          // those being started included
  observation<std::uint32_t> idle_threads;     // of them, those without a callback to run
  observation<std::uint32_t> blocked_threads;  // of them, those whose callback the pool has found to be held up
  observation<bool> may_create;                // the limits allow another thread
  observation<bool> create_in_progress;        // a thread has been asked for and has not begun
  /// Somebody will look at the port without being told: on Linux a thread that is on its way there or passes by every now
  /// and then; on Windows the factory's timer, or an item on a queue of the system's.
  observation<bool> scheduled;

  // ---- limits ----
  observation<std::uint32_t> minimum;
  observation<std::uint32_t> maximum;
  observation<std::uint32_t> concurrency;  // how many threads that are not held up are to run at once
  observation<std::chrono::milliseconds> idle_timeout;

  // ---- what is to be done ----
  observation<std::uint64_t> port_depth;  // packets on the completion port; a work has one for all of its submissions
  observation<std::uint64_t> queued_callbacks;  // submitted and not yet started, on the port or taken by a thread
  observation<std::uint64_t> callbacks_run;     // finished since the pool was made

  observation<nt_factory_flags> nt;

  /// Whether this is what a pool looks like that will never run what it has: packets on its port, no thread, none being
  /// made although one may be, and nobody who will look. One look can catch a healthy pool between two steps: believe
  /// it when a second one, some milliseconds later, says the same. Not known when one of these is not.
  [[nodiscard]] observation<bool> appears_stalled() const;

  friend bool operator==(const pool_snapshot&, const pool_snapshot&) = default;
};

/// One completion port of which it is not known whether it is a pool's.
struct port_snapshot {
  std::uintptr_t id = 0;  // the value of the handle
  observation<std::uint64_t> depth;

  friend bool operator==(const port_snapshot&, const port_snapshot&) = default;
};

/// The pools of this process, as they were at about one moment.
///
/// Taking one changes nothing that a pool does: it makes no thread, wakes none and waits for none. Any thread may take
/// one, callbacks included. It is not atomic: pools are looked at one after the other while they run, and the figures of a
/// pool while its threads do, so they need not add up.
///
/// On Linux the engine tells, with the lock of one pool at a time held for as long as it takes to count its threads and
/// what is queued on its port: some microseconds, a few milliseconds when a million callbacks are queued. `ports` is empty
/// there: each pool has its port.
///
/// On Windows the system is asked by queries that are well known rather than documented, and each may be refused:
/// NtQueryInformationProcess or NtQuerySystemInformation for the handles, NtQueryInformationWorkerFactory for the pools,
/// NtQueryIoCompletion for depths. Which port belongs to which pool is not told, so `port_depth` is only known in a process
/// with one of each. Depths are trusted after the same steps have found a port made for the purpose with the
/// number of packets that were posted to it; it is closed again. Costs some hundred system calls.
///
/// Verified on Linux and under Wine, which tells of ports and refuses all about pools; not on Windows itself.
struct snapshot {
  observation<std::vector<pool_snapshot>> pools;
  observation<std::vector<port_snapshot>> ports;

  /// Throws std::bad_alloc.
  [[nodiscard]] static snapshot take();

  friend bool operator==(const snapshot&, const snapshot&) = default;
};

/// The one pool, at the same cost on Windows as all of them. On Linux all but `nt` is known. Throws std::bad_alloc.
[[nodiscard]] pool_snapshot snapshot_of(const pool& which);

/// The pool in which objects made with `environment` run. On Windows nothing is known of the default pool by itself: it
/// is not told which of the pools it is.
[[nodiscard]] pool_snapshot snapshot_of(const callback_environment& environment);

/// The process's default pool; see above.
[[nodiscard]] pool_snapshot snapshot_of_default_pool();

}  // namespace tidepool
