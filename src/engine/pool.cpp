// Entries, settings and the life of a pool. How workers are called and let go is in factory.cpp.
#include "engine/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <new>

#include "engine/callback_object.hpp"
#include "engine/cold_start.hpp"
#include "engine/fork.hpp"
#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

namespace {

std::uint32_t processors() noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<std::uint32_t>(CPU_COUNT(&set));
  }
  return 1;
}

constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;
constexpr std::int64_t default_idle_timeout = 5'000 * nanoseconds_per_millisecond;

TP_POOL_STACK_INFORMATION default_stack() noexcept {
  TP_POOL_STACK_INFORMATION stack{std::size_t{8} << 20, 4096};
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) == 0) {
    std::size_t size = 0;
    if (pthread_attr_getstacksize(&attributes, &size) == 0) {
      stack.StackReserve = size;
    }
    pthread_attr_destroy(&attributes);
  }
  return stack;
}

}  // namespace

constinit futex_lock _TP_POOL::all_lock_;
constinit _TP_POOL* _TP_POOL::newest_ = nullptr;

_TP_POOL::_TP_POOL(TIDEPOOL_POOL_KIND kind) noexcept
    : kind_(kind), concurrency_(processors()), idle_timeout_(default_idle_timeout), stack_(default_stack()) {
  const std::lock_guard guard(all_lock_);
  older_ = newest_;
  if (older_ != nullptr) {
    older_->newer_ = this;
  }
  newest_ = this;
}

_TP_POOL::~_TP_POOL() {
  {
    const std::lock_guard guard(all_lock_);  // waits for who looks at this pool
    (newer_ != nullptr ? newer_->older_ : newest_) = older_;
    if (older_ != nullptr) {
      older_->newer_ = newer_;
    }
  }
  if (cold_start_ != nullptr) [[unlikely]] {
    cold_start_->end();
  }
  for (worker* each = all_.load(std::memory_order_acquire); each != nullptr;) {
    worker* const next = each->next_of_all;
    delete each;
    each = next;
  }
}

_TP_POOL& _TP_POOL::process_default() noexcept {
  // Never destroyed: callbacks may be submitted and run until the very end of the process.
  alignas(_TP_POOL) static unsigned char storage[sizeof(_TP_POOL)];
  static _TP_POOL& pool = *::new (static_cast<void*>(storage)) _TP_POOL(TidepoolDefaultPool);
  return pool;
}

// ---- entries ---------------------------------------------------------------------------------------

/// Lets `change` add to a level of the port, if it can, and calls a worker for it.
template <class Change>
bool _TP_POOL::change_port(unsigned level, Change change) noexcept {
  require_threads();
  summons help;
  {
    const std::lock_guard guard(lock_);
    if (!port_.update(level, change)) {
      return false;
    }
    help = call_for_help();
  }
  act(help);
  return true;
}

void _TP_POOL::queue(packet& entry) noexcept {
  worker* const self = worker_here();
  if (self == nullptr || self->queue.push(entry) != local_queue::push_result::queued) {
    push(entry);
  }
}

void _TP_POOL::queue_overtaking(packet& entry) noexcept {
  worker* const self = worker_here();
  if (self == nullptr || !self->queue.push_overtaking(entry)) {
    arrive(entry);
  }
}

void _TP_POOL::arrive(packet& entry) noexcept {
  if (cold_start_ == nullptr || !cold_start_->keep(entry)) [[likely]] {
    queue(entry);
  }
}

bool _TP_POOL::queue(const callback_record& record, unsigned level) noexcept {
  worker* const self = worker_here();
  bundle* fresh = nullptr;
  for (;;) {
    const auto here = self != nullptr ? self->queue.push(record, level, fresh) : local_queue::push_result::refused;
    if (here == local_queue::push_result::queued ||
        (here == local_queue::push_result::refused &&
         change_port(level, [&](packet_queue& queue) { return queue.push_back(record, fresh); }))) {
      if (fresh != nullptr) [[unlikely]] {
        fresh->destroy();  // there was room after all
      }
      return true;
    }
    fresh = bundle::make(level);
    if (fresh == nullptr) {
      return false;
    }
    fresh->append(record);
  }
}

void _TP_POOL::push(packet& entry) noexcept {
  change_port(entry.level(), [&entry](packet_queue& queue) {
    queue.push_back(entry);
    return true;
  });
}

void _TP_POOL::push_all(packet_queue& entries, unsigned level) noexcept {
  change_port(level, [&entries](packet_queue& queue) {
    queue.append(entries);
    return true;
  });
}

void _TP_POOL::give_back(packet_queue& entries, unsigned level) noexcept {
  change_port(level, [&entries](packet_queue& queue) {
    queue.prepend(entries);
    return true;
  });
}

// ---- settings --------------------------------------------------------------------------------------

void _TP_POOL::set_maximum(std::uint32_t maximum) noexcept {
  summons help;
  {
    const std::lock_guard guard(lock_);
    maximum_ = maximum != 0 ? maximum : 1;
    several_workers_.store(maximum_ > 1, std::memory_order_relaxed);
    minimum_ = std::min(minimum_, maximum_);
    // Workers beyond the maximum leave when they next come to the port; a higher maximum may serve what waits.
    if (port_.depth() != 0 && !starts_cold()) {
      help = call_for_help();
    }
    update_attendance();
  }
  act(help);
  // Attendance may have ended because more workers can be had now: pairs with the light fence in have_attended().
  heavy_fence();
  if (anything_behind_running()) {
    call_attendant();
  }
}

bool _TP_POOL::set_minimum(std::uint32_t minimum) noexcept {
  std::unique_lock lock(lock_);
  const std::uint32_t before = minimum_;
  minimum_ = minimum;
  maximum_ = std::max(maximum_, minimum_);
  several_workers_.store(maximum_ > 1, std::memory_order_relaxed);
  while (threads_ < minimum_) {
    worker* const fresh = vacant_worker();
    if (fresh != nullptr) {
      change_role(*fresh, worker_role::searching);
    }
    lock.unlock();
    const bool started = fresh != nullptr && start(*fresh);
    lock.lock();
    if (!started) {
      minimum_ = before;  // those that were made leave when they have been idle for long enough
      update_attendance();
      return false;
    }
  }
  update_attendance();
  return true;
}

void _TP_POOL::set_stack(const TP_POOL_STACK_INFORMATION& stack) noexcept {
  const std::lock_guard guard(lock_);
  stack_ = stack;
}

TP_POOL_STACK_INFORMATION _TP_POOL::stack() noexcept {
  const std::lock_guard guard(lock_);
  return stack_;
}

void _TP_POOL::set_idle_timeout(std::uint32_t milliseconds) noexcept {
  const std::lock_guard guard(lock_);
  idle_timeout_ = milliseconds * nanoseconds_per_millisecond;
}

TIDEPOOL_POOL_STATISTICS _TP_POOL::statistics() noexcept {
  TIDEPOOL_POOL_STATISTICS result{};
  const std::lock_guard guard(lock_);
  for (const worker* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next_of_all) {
    result.CallbacksRun += each->completed();
    result.QueuedCallbacks += each->queue.backlog();
    result.StartingThreads += each->is_starting() ? 1 : 0;
  }
  port_.for_each([&result](const packet& entry) { result.QueuedCallbacks += queued_callbacks(entry); });
  result.Pool = this;
  result.Kind = kind_;
  result.Threads = threads_;
  result.IdleThreads = threads_ - running_;
  result.BlockedThreads = excused_;
  result.PortDepth = port_.depth();
  result.Minimum = minimum_;
  result.Maximum = maximum_;
  result.Concurrency = concurrency_;
  result.IdleTimeout = static_cast<DWORD>(idle_timeout_ / nanoseconds_per_millisecond);
  result.MayCreate = threads_ < maximum_ ? TRUE : FALSE;
  result.Scheduled = searching_ != 0 || watcher_ != nullptr ? TRUE : FALSE;
  if (cold_start_ != nullptr && threads_ == 0 && cold_start_->makes_thread()) {
    result.Threads = result.IdleThreads = result.StartingThreads = 1;
    result.MayCreate = maximum_ > 1 ? TRUE : FALSE;
    result.Scheduled = TRUE;
  }
  return result;
}

// ---- life ------------------------------------------------------------------------------------------

void _TP_POOL::retain() noexcept {
  require_threads();
  const std::lock_guard guard(lock_);
  ++references_;
}

void _TP_POOL::release() noexcept {
  if (threads_are_lost) [[unlikely]] {
    return;  // what is left of it is of no use to anybody
  }
  std::unique_lock lock(lock_);
  if (--references_ != 0) {
    return;
  }
  // Nobody is left who could queue anything but the callbacks themselves. The workers empty the port and go;
  // the last one takes the pool with it.
  minimum_ = 0;
  if (threads_ == 0 && port_.depth() == 0) {
    lock.unlock();
    delete this;
    return;
  }
  worker* sleepers = nullptr;
  while (newest_idle_ != nullptr) {
    worker* const each = newest_idle_;
    change_role(*each, worker_role::searching);
    ++each->wakes_owed;
    each->next_to_wake = sleepers;
    sleepers = each;
  }
  if (watcher_ != nullptr) {
    worker* const each = watcher_;
    change_role(*each, worker_role::searching);
    ++each->wakes_owed;
    each->next_to_wake = sleepers;
    sleepers = each;
  }
  summons help = call_for_help();
  lock.unlock();
  while (sleepers != nullptr) {
    worker* const each = sleepers;
    sleepers = each->next_to_wake;  // read first: the worker, and the pool, may be gone once it is woken
    each->wake();
  }
  act(help);
}

// ---- the Win32 functions -----------------------------------------------------------------------------

PTP_POOL CreateThreadpool(PVOID reserved) noexcept {
  if (reserved != nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return nullptr;
  }
  auto* const pool = new (std::nothrow) _TP_POOL(TidepoolPrivatePool);
  if (pool == nullptr) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
  }
  return pool;
}

VOID CloseThreadpool(PTP_POOL pool) noexcept { pool->close(); }

VOID SetThreadpoolThreadMaximum(PTP_POOL pool, DWORD maximum) noexcept {
  _TP_POOL::or_default(pool).set_maximum(maximum);
}

BOOL SetThreadpoolThreadMinimum(PTP_POOL pool, DWORD minimum) noexcept {
  if (!_TP_POOL::or_default(pool).set_minimum(minimum)) {
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return FALSE;
  }
  return TRUE;
}

BOOL SetThreadpoolStackInformation(PTP_POOL pool, PTP_POOL_STACK_INFORMATION information) noexcept {
  if (information == nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
  }
  _TP_POOL::or_default(pool).set_stack(*information);
  return TRUE;
}

BOOL QueryThreadpoolStackInformation(PTP_POOL pool, PTP_POOL_STACK_INFORMATION information) noexcept {
  if (information == nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
  }
  *information = _TP_POOL::or_default(pool).stack();
  return TRUE;
}

VOID TidepoolQueryPoolStatistics(PTP_POOL pool, TIDEPOOL_POOL_STATISTICS* statistics) noexcept {
  *statistics = _TP_POOL::or_default(pool).statistics();
}

DWORD TidepoolQueryPools(TIDEPOOL_POOL_STATISTICS* statistics, DWORD count) noexcept {
  _TP_POOL& first = _TP_POOL::process_default();  // before the lock: it may have to be made
  DWORD found = 0;
  const auto note = [&](_TP_POOL& pool) {
    if (found < count) {
      statistics[found] = pool.statistics();
    }
    ++found;
  };
  note(first);
  _TP_POOL::for_each([&](_TP_POOL& pool) {
    if (&pool != &first) {
      note(pool);
    }
  });
  return found;
}

VOID TidepoolSetPoolIdleTimeout(PTP_POOL pool, DWORD milliseconds) noexcept {
  _TP_POOL::or_default(pool).set_idle_timeout(milliseconds);
}
