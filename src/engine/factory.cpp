// The worker factory: who has which role, and when threads come and go. What searching and watching is: lookout.cpp.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "engine/cold_start.hpp"
#include "engine/fork.hpp"
#include "engine/instance.hpp"
#include "engine/poller.hpp"
#include "engine/pool.hpp"
#include "engine/probes.hpp"
#include "engine/start_thread.hpp"
#include "engine/thread_clock.hpp"
#include "trace/recorder.hpp"

using namespace tidepool::engine;

// ---- with the lock held ------------------------------------------------------------------------------

void _TP_POOL::change_role(worker& of, worker_role to) noexcept {
  switch (of.current_role()) {
    case worker_role::vacant: ++threads_; break;
    case worker_role::running:
      if (to != worker_role::running) {
        of.queue.rest();
      }
      --running_;
      if (of.excused.load(std::memory_order_relaxed)) {
        of.excused.store(false, std::memory_order_relaxed);
        --excused_;
      }
      break;
    case worker_role::searching: --searching_; break;
    case worker_role::watching: watcher_ = nullptr; break;
    case worker_role::idle:
      remove_idle(of);
      --idle_;
      break;
  }
  of.role.store(to, std::memory_order_relaxed);
  switch (to) {
    case worker_role::vacant: --threads_; break;
    case worker_role::running: ++running_; break;
    case worker_role::searching: ++searching_; break;
    case worker_role::watching:
      TIDEPOOL_ASSERT(watcher_ == nullptr);
      watcher_ = &of;
      of.prepare_sleep();
      break;
    case worker_role::idle:
      // What is on the port has been left to somebody.
      TIDEPOOL_ASSERT(port_.depth() == 0 || searching_ != 0 || watcher_ != nullptr);
      add_idle(of);
      ++idle_;
      of.prepare_sleep();
      break;
  }
  update_attendance();
}

/// The newest is called first. Not so whoever sits in the poller's seat: it is the oldest.
void _TP_POOL::add_idle(worker& of) noexcept {
  of.idle_newer = nullptr;
  of.idle_older = newest_idle_;
  (newest_idle_ != nullptr ? newest_idle_->idle_newer : oldest_idle_) = &of;
  newest_idle_ = &of;
}

void _TP_POOL::remove_idle(worker& of) noexcept {
  (of.idle_newer != nullptr ? of.idle_newer->idle_older : newest_idle_) = of.idle_older;
  (of.idle_older != nullptr ? of.idle_older->idle_newer : oldest_idle_) = of.idle_newer;
}

void _TP_POOL::update_attendance() noexcept {
  const attendance now = watcher_ != nullptr || (idle_ == 0 && threads_ >= maximum_) ? attendance::steady
                         : searching_ != 0                                           ? attendance::fleeting
                                                                                     : attendance::none;
  if (now != attendance_.load(std::memory_order_relaxed)) {
    attendance_.store(now, std::memory_order_relaxed);
  }
  const bool busy = running_ == threads_ && threads_ >= maximum_;
  if (busy != seems_busy()) {
    seems_busy_.store(busy, std::memory_order_relaxed);
  }
}

/// Whether a running worker has ended a callback since the watcher looked last.
bool _TP_POOL::anybody_progresses() const noexcept {
  for (const worker* each = all_.load(std::memory_order_relaxed); each != nullptr; each = each->next_of_all) {
    if (each->current_role() == worker_role::running && each->completed_since_seen() != 0) {
      return true;
    }
  }
  return false;
}

_TP_POOL::summons _TP_POOL::call_for_help() noexcept {
  if (searching_ != 0) {
    return {};  // it will find what there is, and call the next if there is more
  }
  if (watcher_ != nullptr) {
    if (running_ != excused_ && (!has_room() || anybody_progresses())) {
      return {};  // it looks by itself soon; waking it for every arrival would cost more than it gains
    }
    worker* const watcher = watcher_;
    change_role(*watcher, worker_role::searching);
    ++watcher->wakes_owed;
    return {watcher, nullptr};
  }
  const worker_role role = has_room() ? worker_role::searching : worker_role::watching;
  if (worker* const sleeper = newest_idle_) {
    change_role(*sleeper, role);
    ++sleeper->wakes_owed;
    return {sleeper, nullptr};
  }
  if (threads_ < maximum_) {
    if (worker* const fresh = vacant_worker()) {
      change_role(*fresh, role);
      return {nullptr, fresh};
    }
  }
  return {};
}

_TP_POOL::worker* _TP_POOL::vacant_worker() noexcept {
  worker* const first = all_.load(std::memory_order_relaxed);
  for (worker* each = first; each != nullptr; each = each->next_of_all) {
    if (each->current_role() == worker_role::vacant) {
      return each;
    }
  }
  auto* const fresh = new (std::nothrow) worker(*this);
  if (fresh != nullptr) {
    fresh->next_of_all = first;
    all_.store(fresh, std::memory_order_release);
  }
  return fresh;
}

// ---- calling workers -----------------------------------------------------------------------------------

bool _TP_POOL::attended_fleetingly() const noexcept {
  if (attendance_.load(std::memory_order_relaxed) == attendance::none) {
    return false;
  }
  full_fence();
  return attendance_.load(std::memory_order_relaxed) != attendance::none;
}

void _TP_POOL::call_attendant() noexcept {
  summons help;
  {
    const std::lock_guard guard(lock_);
    help = call_for_help();
  }
  act(help);
}

void _TP_POOL::rescue() noexcept {
  summons help;
  {
    const std::lock_guard guard(lock_);
    if (threads_ == 0 && port_.depth() != 0 && !starts_cold()) {
      help = call_for_help();
    }
  }
  act(help);
}

void _TP_POOL::act(const summons& help) noexcept {
  if (help.sleeper != nullptr) {
    help.sleeper->wake();
  } else if (help.fresh != nullptr) {
    start(*help.fresh);
  }
}

bool _TP_POOL::start(worker& in) noexcept {
  if (cold_start_ != nullptr) [[unlikely]] {
    cold_start_->end();
  }
  if (!start_thread(&thread_main, &in, stack().StackReserve)) {
    // What is queued stays queued; the next arrival, and whoever waits, tries again.
    std::unique_lock lock(lock_);
    retire(in, lock, false);
    return false;
  }
  return true;
}

void _TP_POOL::retire(worker& self, std::unique_lock<futex_lock>& lock, bool call_another) noexcept {
  if (!self.all_wakes_received()) {
    change_role(self, worker_role::searching);  // nobody owes it any more from here on
    do {
      lock.unlock();
      sched_yield();
      lock.lock();
    } while (!self.all_wakes_received());
  }
  self.thread_id.store(0, std::memory_order_relaxed);
  change_role(self, worker_role::vacant);
  const bool last = threads_ == 0 && references_ == 0 && port_.depth() == 0;
  // It may have been called for something that it is not going to do.
  const summons help = call_another && port_.depth() != 0 ? call_for_help() : summons{};
  lock.unlock();
  if (last) {
    delete this;
  } else {
    act(help);
  }
}

bool _TP_POOL::excuse(worker& self) noexcept {
  self.queue.surrender();
  summons help;
  bool changed = false;
  {
    const std::lock_guard guard(lock_);
    if (self.current_role() == worker_role::running && !self.excused.load(std::memory_order_relaxed)) {
      self.excused.store(true, std::memory_order_relaxed);
      ++excused_;
      changed = true;
    }
    if (port_.depth() != 0) {
      help = call_for_help();
    }
  }
  act(help);
  return changed;
}

void _TP_POOL::end_excuse(worker& self) noexcept {
  require_threads();
  const std::lock_guard guard(lock_);
  if (self.excused.load(std::memory_order_relaxed)) {
    self.excused.store(false, std::memory_order_relaxed);
    --excused_;
  }
}

bool _TP_POOL::has_reserve() noexcept {
  const std::lock_guard guard(lock_);
  return threads_ > running_ || threads_ < maximum_;
}

// ---- a start with the fault that tests give it ----------------------------------------------------------

bool _TP_POOL::starts_cold() const noexcept { return cold_start_ != nullptr && cold_start_->lasts(); }

void _TP_POOL::set_cold_start(std::shared_ptr<tidepool::engine::cold_start> with) {
  const std::lock_guard guard(lock_);
  if (cold_start_ != nullptr || all_.load(std::memory_order_relaxed) != nullptr || port_.depth() != 0) {
    throw std::logic_error("only a pool that nothing has been done with can be given a fault, and only one");
  }
  cold_start_ = std::move(with);
}

void _TP_POOL::put(packet& entry) noexcept {
  require_threads();
  const std::lock_guard guard(lock_);
  port_.update(entry.level(), [&entry](packet_queue& queue) { return queue.push_back(entry), true; });
}

bool _TP_POOL::take_off(packet& entry) noexcept {
  const std::lock_guard guard(lock_);
  return port_.update(entry.level(), [&entry](packet_queue& queue) { return queue.remove(entry); });
}

bool _TP_POOL::end_cold_start() noexcept {
  summons help;
  {
    const std::lock_guard guard(lock_);
    if (port_.depth() == 0 || references_ == 0) {
      return false;  // with no reference left, whoever gave up the last sees to the rest
    }
    help = call_for_help();
  }
  cold_start_->conclude();
  act(help);
  return true;
}

// ---- a worker's life -----------------------------------------------------------------------------------

void* _TP_POOL::thread_main(void* argument) noexcept {
  worker& self = *static_cast<worker*>(argument);
  worker::current_ = &self;
  self.thread_id.store(gettid(), std::memory_order_relaxed);
  pthread_setname_np(pthread_self(), "tidepool");
  const void* const pool = &self.pool;
  tidepool::recorder::note<tidepool::recorder::kind::worker, tidepool::recorder::action::started>(pool);
  for (task what; self.pool.next(self, what);) {
    if (what.entry != nullptr) {
      what.entry->kind->dispatch(self, *what.entry);
    } else {
      _TP_CALLBACK_INSTANCE instance(self, nullptr);
      TIDEPOOL_PROBE(dispatch__start, what.callback, &self.pool);
      what.callback(&instance, what.context());
      TIDEPOOL_PROBE(dispatch__end, what.callback, &self.pool);
      instance.complete();
      self.note_completed();
      self.pool.between_callbacks(self);
    }
  }
  // The worker may be gone, but the destructors of what callbacks have left on this thread may still use a pool.
  worker::current_ = nullptr;
  tidepool::recorder::note<tidepool::recorder::kind::worker, tidepool::recorder::action::ended>(pool);
  return nullptr;
}

bool _TP_POOL::next(worker& self, task& into) noexcept { return self.queue.pop(into) || next_from_port(self, into); }

/// The next entry for a worker that has none of its own, or none as urgent. False: the thread ends, and the
/// worker and the pool may be gone.
bool _TP_POOL::next_from_port(worker& self, task& into) noexcept {
  bool searched = false;
  for (;;) {
    std::unique_lock lock(lock_);
    switch (self.current_role()) {
      case worker_role::idle:
        lock.unlock();
        if (!park(self)) {
          return false;
        }
        searched = false;
        continue;
      case worker_role::watching:
        lock.unlock();
        watch(self);
        searched = false;
        continue;
      case worker_role::running:
      case worker_role::searching:
      case worker_role::vacant: break;
    }
    const bool owns_nothing = self.queue.backlog() == 0;
    if (owns_nothing && threads_ > maximum_) {
      retire(self, lock, true);
      return false;
    }
    const bool was_running = self.current_role() == worker_role::running;
    const bool yields = was_running && owns_nothing && crowded();
    if (port_.depth() != 0 && !yields) {
      change_role(self, worker_role::running);
      // Several at once, but no more than this worker's share: the others want some too.
      const std::size_t share =
          owns_nothing ? std::clamp<std::size_t>(port_.depth() / 2 / concurrency_, 1, self.queue.appetite()) : 1;
      port_.pop(into);
      packet_queue more;
      const unsigned level = share > 1 ? port_.take(more, share - 1) : normal_level;
      const summons help = port_.depth() != 0 ? call_for_help() : summons{};
      // No longer searching, so perhaps nobody attends to what others have queued for themselves meanwhile.
      const bool turned_away =
          !was_running && running_ > 1 && attendance_.load(std::memory_order_relaxed) == attendance::none;
      lock.unlock();
      self.queue.note_taken_elsewhere();
      if (!more.empty()) {
        self.queue.keep(more, level);
      }
      act(help);
      if (!was_running) {
        poller::instance().ensure_guarded();
      }
      if (turned_away) {
        full_fence();  // pairs with the full fence in attended_fleetingly()
        if (anything_behind_running()) {
          call_attendant();
        }
      }
      return true;
    }
    if (!owns_nothing) {
      lock.unlock();  // the port has nothing more urgent any more
      if (self.queue.pop(into)) {
        return true;
      }
      continue;
    }
    if (references_ == 0 && port_.depth() == 0) {
      retire(self, lock, true);
      return false;
    }
    if (was_running && !yields && searching_ == 0) {
      change_role(self, worker_role::searching);
    }
    if (self.current_role() == worker_role::searching && !searched) {
      searched = true;
      lock.unlock();
      search(self);
      continue;
    }
    const std::uint32_t others = running_ - (self.current_role() == worker_role::running ? 1 : 0);
    change_role(self, others != 0 && watcher_ == nullptr ? worker_role::watching : worker_role::idle);
  }
}

// ---- the poller's seat -----------------------------------------------------------------------------------

bool _TP_POOL::send_to_seat() noexcept {
  if (starts_cold()) {
    return false;
  }
  summons sent;
  {
    const std::lock_guard guard(lock_);
    if (newest_idle_ != nullptr) {
      sent.sleeper = newest_idle_;
      ++sent.sleeper->wakes_owed;
    } else if (threads_ < maximum_) {
      sent.fresh = vacant_worker();
      if (sent.fresh != nullptr) {
        change_role(*sent.fresh, worker_role::searching);
      }
    }
  }
  if (sent.sleeper != nullptr) {
    sent.sleeper->wake();
    return true;
  }
  return sent.fresh != nullptr && start(*sent.fresh);
}

bool _TP_POOL::rise_from_seat(worker& self) noexcept {
  const std::lock_guard guard(lock_);
  const worker_role role = self.current_role();
  if (role != worker_role::idle && !(role == worker_role::watching && port_.depth() == 0)) {
    return false;  // it has been called, and the call will be seen; or it goes on watching
  }
  change_role(self, worker_role::searching);
  return true;
}

bool _TP_POOL::return_to_seat(worker& self) noexcept {
  {
    const std::lock_guard guard(lock_);
    if (port_.depth() != 0 || references_ == 0) {
      return false;
    }
    change_role(self, worker_role::idle);
    remove_idle(self);
    self.idle_newer = oldest_idle_;
    self.idle_older = nullptr;
    (oldest_idle_ != nullptr ? oldest_idle_->idle_older : newest_idle_) = &self;
    oldest_idle_ = &self;
  }
  full_fence();  // pairs with the full fence in attended_fleetingly()
  if (anything_behind_running()) {
    call_attendant();
  }
  return true;
}

// ---- sleeping --------------------------------------------------------------------------------------------

/// Sleeps until called: true, in another role. Or until the idle time-out: false, and the worker is gone.
bool _TP_POOL::park(worker& self) noexcept {
  std::int64_t deadline = 0;
  for (;;) {
    bool may_leave = false;
    std::int64_t patience = 0;
    {
      std::unique_lock lock(lock_);
      if (self.current_role() != worker_role::idle) {
        return true;
      }
      const std::int64_t now = monotonic_now();
      if (deadline == 0) {
        deadline = now + idle_timeout_;
      }
      may_leave = threads_ > minimum_;
      patience = std::max<std::int64_t>(deadline - now, 0);
      if (may_leave && patience == 0 && !poller::instance().wants_sitter()) {
        retire(self, lock, true);
        return false;
      }
      self.prepare_sleep();  // it may have been woken only to take the seat
    }
    const std::int64_t asleep_since = monotonic_now();
    if (!poller::instance().sit(self, patience)) {
      self.sleep(may_leave ? patience : -1);
    }
    if (self.current_role() != worker_role::idle && monotonic_now() - asleep_since < search_time) {
      note_search(true);
    }
  }
}
