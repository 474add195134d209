// What workers do for each other when they have nothing to run: they search, watch, and take what is stuck.
#include <algorithm>

#include "engine/poller.hpp"
#include "engine/pool.hpp"
#include "engine/thread_clock.hpp"

using namespace tidepool::engine;

namespace {

constexpr std::int64_t microsecond = 1'000;
constexpr std::int64_t millisecond = 1'000'000;

/// How long it observes another worker's progress at a time.
constexpr std::int64_t search_window = 2 * microsecond;

constexpr std::int64_t shortest_nap = 50 * microsecond;
constexpr std::int64_t usual_nap = 200 * microsecond;
constexpr std::int64_t longest_nap = 1 * millisecond;
constexpr int naps_before_longest = 32;
constexpr int quiet_naps_before_leaving = 16;

/// A callback that has used no processor time for so long, and sleeps, is blocked.
constexpr std::int64_t blocked_after = 150 * microsecond;
/// When callbacks are queued and none has ended for so long, one more is run although processors are busy: those
/// that run may be spinning until it has run.
constexpr std::int64_t stalled_after = 100 * millisecond;

}  // namespace

// ---- searching -------------------------------------------------------------------------------------------

/// Looks for a short while for something to arrive, and makes workers that will not get to their backlog soon give it
/// up. Returns when there may be something on the port, or after the time.
void _TP_POOL::search(const worker& self) noexcept {
  poller& events = poller::instance();
  const auto something = [&] { return (events.wants_sitter() && events.look()) || port_.summary() != 0; };
  if (something() || concurrency_ == 1 || !searching_pays()) {
    return;  // with one processor spinning only keeps others from running
  }
  const worker* candidate = nullptr;
  std::uint64_t completed = 0;
  bool stuck_once = false;
  const std::int64_t end = monotonic_now() + search_time;
  std::int64_t window_end = 0;
  for (std::int64_t now = 0; now < end;) {
    for (int spin = 0; spin < 8; ++spin) {
      if (port_.summary() != 0) {
        note_search(true);
        return;
      }
      cpu_pause();
    }
    now = monotonic_now();
    if (now < window_end) {
      continue;
    }
    window_end = now + search_window;
    if (something()) {
      note_search(true);
      return;
    }
    worker* behind = nullptr;
    for (worker* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next_of_all) {
      if (each != &self && each->current_role() == worker_role::running && each->queue.backlog() != 0) {
        behind = each;
        break;
      }
    }
    if (behind == nullptr || behind != candidate) {
      candidate = behind;
      completed = behind != nullptr ? behind->completed() : 0;
      stuck_once = false;
      continue;
    }
    const std::uint64_t done = behind->completed() - completed;
    completed += done;
    if (done != 0) {
      stuck_once = false;
      // Only what it would not reach in the next few windows is worth the trip.
      if (behind->queue.backlog() > 4 * done) {
        behind->queue.ask_to_share();
      }
    } else if (stuck_once) {
      behind->queue.take_away();
      note_search(true);
      return;
    } else {
      stuck_once = true;
      behind->queue.ask_to_share();  // it may be queueing from inside one long callback
    }
  }
  note_search(false);
}

/// Searches that find nothing are given up, and begun again when sleepers turn out to have slept for less than a search.
void _TP_POOL::note_search(bool found) noexcept {
  const int now = search_credit_.load(std::memory_order_relaxed);
  search_credit_.store(found ? std::min(now + 4, most_search_credit) : std::max(now - 1, 0), std::memory_order_relaxed);
}

bool _TP_POOL::anything_behind_running() const noexcept {
  for (const worker* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next_of_all) {
    if (each->queue.backlog() != 0) {
      return true;
    }
  }
  return false;
}

/// For a worker that never runs dry: a backlog behind a callback that has not ended since the last look goes
/// back to the port, or it would wait for as long as this worker keeps finding entries of its own. Now and then events
/// are looked for too.
void _TP_POOL::look_for_stranded(worker& self) noexcept {
  if (self.callbacks_run % callbacks_between_polls == 0 && poller::instance().wants_sitter()) {
    poller::instance().look();
  }
  worker* each = self.looked_at;
  if (each != nullptr && each->current_role() == worker_role::running && each->queue.backlog() != 0 &&
      each->completed() == self.looked_at_completed) {
    each->queue.take_away();
  }
  each = each != nullptr && each->next_of_all != nullptr ? each->next_of_all : all_.load(std::memory_order_acquire);
  if (each == &self) {
    each = each->next_of_all;
  }
  self.looked_at = each;
  self.looked_at_completed = each != nullptr ? each->completed() : 0;
}

// ---- watching --------------------------------------------------------------------------------------------

/// Sleeps for short times and looks after what is queued, until there is another role to play.
void _TP_POOL::watch(worker& self) noexcept {
  std::int64_t nap = shortest_nap;
  std::int64_t last_progress = monotonic_now();
  int naps = 0;
  int quiet = 0;
  {
    const std::lock_guard guard(lock_);
    self.prepare_sleep();  // the wake-up that made it the watcher has done its work
  }
  poller::instance().ensure_guarded();  // it may have been sent to the seat
  for (;;) {
    bool queued = false;
    const bool called = self.current_role() != worker_role::watching;  // a hint, which saves the look
    const bool needed = !called && watcher_sees_need(self, queued, last_progress);
    quiet = queued ? 0 : quiet + 1;
    {
      std::unique_lock lock(lock_);
      if (self.current_role() != worker_role::watching) {
        lock.unlock();
        fence_owners();
        return;
      }
      if (needed || running_ == 0) {
        const bool alone = running_ == 0;
        change_role(self, worker_role::searching);
        lock.unlock();
        if (!alone) {
          fence_owners();
          take_away_from_the_stuck();
        }
        return;
      }
      if (quiet >= quiet_naps_before_leaving && port_.depth() == 0) {  // what has just come relies on it
        change_role(self, worker_role::idle);
        lock.unlock();
        fence_owners();
        if (anything_behind_running()) {
          call_attendant();
        }
        return;
      }
    }
    poller::instance().nap(self, nap);
    ++naps;
    nap = naps > naps_before_longest ? longest_nap : std::min(nap * 2, usual_nap);
  }
}

/// After steady attendance has ended. The heavy fence interrupts every processor that runs one of our threads: it is for
/// owners that may rely on it, and not for one that computes and has added nothing.
void _TP_POOL::fence_owners() const noexcept {
  full_fence();  // pairs with the full fence in have_attended(), the first after a rest
  for (const worker* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next_of_all) {
    if (each->queue.fences_lightly()) {
      heavy_fence();  // pairs with the light fence there
      return;
    }
  }
}

void _TP_POOL::take_away_from_the_stuck() noexcept {
  for (worker* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next_of_all) {
    if (each->queue.backlog() != 0 && each->completed_since_seen() == 0) {
      each->queue.take_away();
    }
  }
}

/// Whether the watcher should step in: something is queued and does not move, and a processor is free or the
/// pool has not moved at all for long. Excuses the workers that it finds blocked.
bool _TP_POOL::watcher_sees_need(const worker& self, bool& queued, std::int64_t& last_progress) noexcept {
  const std::int64_t now = monotonic_now();
  const bool port_waits = port_.summary() != 0;
  bool stuck = false;
  bool progressed = false;
  std::uint32_t free = 0;
  queued = port_waits;
  for (worker* each = all_.load(std::memory_order_acquire); each != nullptr; each = each->next_of_all) {
    if (each == &self || each->current_role() != worker_role::running) {
      continue;
    }
    const std::uint64_t backlog = each->queue.backlog();
    const std::uint64_t done = each->completed_since_seen();
    if (backlog != 0) {
      queued = true;
      stuck = stuck || done == 0;
      if (done != 0 && backlog > done) {
        each->queue.ask_to_share();
      }
    }
    free += runs_freely(*each, now, progressed) ? 1 : 0;
  }
  if (progressed || !queued) {
    last_progress = now;
  }
  if (!port_waits && !stuck) {
    return false;
  }
  if (free < concurrency_) {
    return true;
  }
  if (now - last_progress >= stalled_after) {
    last_progress = now;
    return true;
  }
  return false;
}

/// Observes a running worker once more. False when its callback is found to be blocked.
bool _TP_POOL::runs_freely(worker& other, std::int64_t now, bool& progressed) noexcept {
  if (other.excused.load(std::memory_order_relaxed)) {
    return false;
  }
  const std::uint64_t completed = other.completed();
  const pid_t thread = other.thread_id.load(std::memory_order_relaxed);
  if (completed != other.seen.completed.load(std::memory_order_relaxed)) {
    progressed = true;
    other.seen.completed.store(completed, std::memory_order_relaxed);
    other.seen.cpu_time.store(cpu_time_of(thread), std::memory_order_relaxed);
    other.seen.at.store(now, std::memory_order_relaxed);
    return true;
  }
  if (now - other.seen.at.load(std::memory_order_relaxed) < blocked_after) {
    return true;  // too soon to say
  }
  const std::int64_t cpu_time = cpu_time_of(thread);
  const bool used = cpu_time != other.seen.cpu_time.exchange(cpu_time, std::memory_order_relaxed);
  other.seen.at.store(now, std::memory_order_relaxed);
  if (used || !is_asleep(thread)) {
    return true;
  }
  const std::lock_guard guard(lock_);
  if (other.current_role() == worker_role::running && other.completed() == completed &&
      !other.excused.load(std::memory_order_relaxed)) {
    other.excused.store(true, std::memory_order_relaxed);
    ++excused_;
  }
  return false;
}
