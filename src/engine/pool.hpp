// A pool: a completion port and the worker factory that looks after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/futex_lock.hpp"
#include "engine/port.hpp"
#include "engine/worker.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::engine {
class cold_start;
}

/// How the factory decides, in short (docs/design/engine.md tells it in full). `running` workers that are not
/// `excused` are kept at the number of processors while there is work: an arrival wakes or starts at most one
/// worker at a time, which calls the next when it finds more. When that many run already, one worker *watches*:
/// it looks every now and then whether queued callbacks move, and steps in, and calls others, when those in
/// front of them are blocked. A pool is *attended* while some worker searches or watches, or none can be had:
/// then an arrival needs to tell nobody.
struct _TP_POOL {
 private:
  using worker = tidepool::engine::worker;
  using worker_role = tidepool::engine::worker_role;

  /// A worker that never runs dry looks after others once in so many callbacks, and less often at the poller: that is a
  /// call of the system, and should the callbacks be long, there is the guard.
  static constexpr std::uint32_t callbacks_between_looks = 64;
  static constexpr std::uint32_t callbacks_between_polls = 256;
  static_assert(callbacks_between_polls % callbacks_between_looks == 0, "it is one of those looks");

  /// Who looks after entries in the local queues of running workers.
  enum class attendance : std::uint8_t {
    none,      // nobody: whoever queues one calls for help
    fleeting,  // a searching worker, which may turn to something else at any moment
    steady,    // a watcher, or no further worker can be had
  };

 public:
  explicit _TP_POOL(TIDEPOOL_POOL_KIND kind) noexcept;
  ~_TP_POOL();
  _TP_POOL(const _TP_POOL&) = delete;
  _TP_POOL& operator=(const _TP_POOL&) = delete;

  /// The process default pool. Never destroyed.
  static _TP_POOL& process_default() noexcept;
  static _TP_POOL& or_default(_TP_POOL* pool) noexcept { return pool != nullptr ? *pool : process_default(); }

  // ---- entries ----

  /// The worker of this pool that calls, if its own queue may be used: it comes back to it soon.
  [[nodiscard]] tidepool::engine::worker* worker_here() const noexcept {
    worker* const self = worker::current();
    return self != nullptr && &self->pool == this && self->current_role() == worker_role::running &&
                   !self->excused.load(std::memory_order_relaxed)
               ? self
               : nullptr;
  }
  /// Queues `entry`, whose callback is anybody's to run: on the worker of this pool that calls, if the order
  /// allows, else on the port.
  void queue(tidepool::engine::packet& entry) noexcept;
  /// The same for what was not submitted, but has happened: a tick, an activation, a request.
  void arrive(tidepool::engine::packet& entry) noexcept;
  /// The same as arrive(), but next on that worker, before what it has queued already, if that is fair.
  void queue_overtaking(tidepool::engine::packet& entry) noexcept;
  /// The same as queue() for a one-off callback. False when there is no memory for it.
  bool queue(const tidepool::engine::callback_record& record, unsigned level) noexcept;
  /// Queues it on the port.
  void push(tidepool::engine::packet& entry) noexcept;
  /// Empties `entries`, all of one level, onto the port.
  void push_all(tidepool::engine::packet_queue& entries, unsigned level) noexcept;
  /// Puts back in front what a worker had taken.
  void give_back(tidepool::engine::packet_queue& entries, unsigned level) noexcept;
  /// Relaxed: whoever changes the maximum while callbacks queue others sees either order.
  [[nodiscard]] bool has_several_workers() const noexcept { return several_workers_.load(std::memory_order_relaxed); }
  [[nodiscard]] const tidepool::engine::completion_port& port() const noexcept { return port_; }

  /// Whether somebody will notice an entry that the caller, a running worker, has just put into its own queue.
  /// If not, the caller has to call_attendant().
  [[nodiscard]] bool attended() const noexcept {
    // The hand-shake: the caller has stored its entry and looks for an attendant; an attendant that turns away
    // stores that it does and then looks for entries. With fences between, one of them sees the other. A steady
    // attendant uses the heavy fence (fence_owners(), set_maximum()), so that this side is cheap: the light fence comes
    // before the call (local_queue::have_attended()). A fleeting one cannot afford that (next_from_port()), so this
    // side pays.
    return attendance_.load(std::memory_order_relaxed) == attendance::steady || attended_fleetingly();
  }
  void call_attendant() noexcept;

  // ---- workers ----

  /// While excused, a running worker does not count against the pool's concurrency. By the worker itself;
  /// returns whether it was not excused before.
  bool excuse(tidepool::engine::worker& self) noexcept;
  void end_excuse(tidepool::engine::worker& self) noexcept;
  /// Tries again to find a worker for what is queued, should no thread have been to be had: for those that wait.
  void rescue() noexcept;
  /// What a worker does after each callback.
  void between_callbacks(worker& self) noexcept {
    if (self.excused.load(std::memory_order_relaxed)) [[unlikely]] {
      end_excuse(self);
    }
    if (++self.callbacks_run % callbacks_between_looks == 0) [[unlikely]] {
      look_for_stranded(self);
    }
  }
  /// Whether some thread could run another callback while all that run now go on.
  bool has_reserve() noexcept;
  /// Whether there was none lately. Relaxed: a hint.
  [[nodiscard]] bool seems_busy() const noexcept { return seems_busy_.load(std::memory_order_relaxed); }
  /// Calls `visit(worker&)` for each worker, then `then()`, while none of them can claim, push or pop.
  template <class Visit, class Then>
  void stop_all(Visit visit, Then then) noexcept;

  // ---- the poller's seat (poller.hpp) ----

  /// Sends an idle worker, or a new one, to the seat. False when there is none to be had.
  bool send_to_seat() noexcept;
  /// By an idle worker in the seat: it stays there, or returns, for as long as rise_from_seat() is false, or
  /// return_to_seat() after it true. In between arrivals rely on it. A worker that watches rises only when nothing waits:
  /// it is not to run what the others will come to.
  bool rise_from_seat(worker& self) noexcept;
  bool return_to_seat(worker& self) noexcept;

  // ---- the user's settings ----

  void set_maximum(std::uint32_t maximum) noexcept;
  bool set_minimum(std::uint32_t minimum) noexcept;
  void set_stack(const TP_POOL_STACK_INFORMATION& stack) noexcept;
  TP_POOL_STACK_INFORMATION stack() noexcept;
  void set_idle_timeout(std::uint32_t milliseconds) noexcept;
  TIDEPOOL_POOL_STATISTICS statistics() noexcept;
  /// Calls `visit(pool&)` for each pool of the process, the newest first, while none of them can be made or die.
  template <class Visit>
  static void for_each(Visit visit) noexcept {
    const std::lock_guard guard(all_lock_);
    for (_TP_POOL* each = newest_; each != nullptr; each = each->older_) {
      visit(*each);
    }
  }

  // ---- the fault that tests give it (stall_fault.hpp) ----

  void set_cold_start(std::shared_ptr<tidepool::engine::cold_start> with);
  /// Null for a pool without the fault.
  [[nodiscard]] tidepool::engine::cold_start* cold() const noexcept { return cold_start_.get(); }
  /// Puts it on the port and calls nobody.
  void put(tidepool::engine::packet& entry) noexcept;
  /// Takes it off the port again; false when it is not there.
  bool take_off(tidepool::engine::packet& entry) noexcept;
  /// Calls the first worker for what is on the port, and ends the cold start. False when there is nothing, or nobody who
  /// could want it.
  bool end_cold_start() noexcept;

  // ---- life ----

  /// Objects keep their pool; after close() it dies with the last of them, its queue empty.
  void retain() noexcept;
  void release() noexcept;
  void close() noexcept { release(); }

 private:
  [[nodiscard]] bool attended_fleetingly() const noexcept;

  /// Whom to wake or start once the lock is released. Default: nobody.
  struct summons {
    worker* sleeper = nullptr;
    worker* fresh = nullptr;
  };

  static void* thread_main(void* argument) noexcept;
  bool next(worker& self, tidepool::engine::task& into) noexcept;
  bool next_from_port(worker& self, tidepool::engine::task& into) noexcept;
  void search(const worker& self) noexcept;
  [[nodiscard]] bool searching_pays() const noexcept { return search_credit_.load(std::memory_order_relaxed) != 0; }
  void note_search(bool found) noexcept;
  void watch(worker& self) noexcept;
  bool watcher_sees_need(const worker& self, bool& queued, std::int64_t& last_progress) noexcept;
  bool runs_freely(worker& other, std::int64_t now, bool& progressed) noexcept;
  bool park(worker& self) noexcept;
  void look_for_stranded(worker& self) noexcept;
  void fence_owners() const noexcept;
  void take_away_from_the_stuck() noexcept;
  [[nodiscard]] bool anything_behind_running() const noexcept;

  template <class Change>
  bool change_port(unsigned level, Change change) noexcept;

  // With the lock held.
  void change_role(worker& of, worker_role to) noexcept;
  void add_idle(worker& of) noexcept;
  void remove_idle(worker& of) noexcept;
  summons call_for_help() noexcept;
  [[nodiscard]] bool anybody_progresses() const noexcept;
  void update_attendance() noexcept;
  worker* vacant_worker() noexcept;
  [[nodiscard]] bool has_room() const noexcept { return running_ - excused_ < concurrency_; }
  [[nodiscard]] bool crowded() const noexcept { return running_ - excused_ > concurrency_; }

  // Without the lock.
  [[nodiscard]] bool starts_cold() const noexcept;
  void act(const summons& help) noexcept;
  bool start(worker& in) noexcept;
  /// Ends `self`'s part in the pool; the last worker of a closed pool deletes it, so nothing of either may be
  /// touched after. `call_another`: for what it leaves on the port.
  void retire(worker& self, std::unique_lock<tidepool::engine::futex_lock>& lock, bool call_another) noexcept;

  // All pools of the process. The lock comes before a pool's own.
  static constinit tidepool::engine::futex_lock all_lock_;
  static constinit _TP_POOL* newest_;
  _TP_POOL* older_ = nullptr;
  _TP_POOL* newer_ = nullptr;
  const TIDEPOOL_POOL_KIND kind_;

  // Looked at by everybody, changed seldom while the pool is busy.
  std::atomic<attendance> attendance_{attendance::none};
  std::atomic<worker*> all_{nullptr};        // release on push, acquire on walk: workers are published whole
  std::atomic<bool> several_workers_{true};  // maximum_ > 1
  std::atomic<bool> seems_busy_{false};
  std::shared_ptr<tidepool::engine::cold_start> cold_start_;  // set before anything else is done with the pool
  const std::uint32_t concurrency_;
  static constexpr int most_search_credit = 16;
  /// How long a worker looks for something to run before it goes to sleep: about the cost of waking it again.
  static constexpr std::int64_t search_time = 20'000;
  std::atomic<int> search_credit_{most_search_credit};  // relaxed: a guess, and a lost update of it is no loss

  alignas(128) tidepool::engine::futex_lock lock_;
  tidepool::engine::completion_port port_;
  worker* newest_idle_ = nullptr;
  worker* oldest_idle_ = nullptr;
  worker* watcher_ = nullptr;
  std::uint32_t threads_ = 0;
  std::uint32_t running_ = 0;
  std::uint32_t excused_ = 0;
  std::uint32_t searching_ = 0;
  std::uint32_t idle_ = 0;
  std::uint32_t minimum_ = 0;
  std::uint32_t maximum_ = 500;
  std::uint32_t references_ = 1;  // the user's, and one per object
  std::int64_t idle_timeout_;     // nanoseconds
  TP_POOL_STACK_INFORMATION stack_;
};

template <class Visit, class Then>
void _TP_POOL::stop_all(Visit visit, Then then) noexcept {
  // Workers are only ever added, at the head: every walk below sees the same ones, and two visitors of all meet
  // the ones they share in the same order.
  worker* const first = all_.load(std::memory_order_acquire);
  for (worker* each = first; each != nullptr; each = each->next_of_all) {
    each->queue.section().announce_visit();
  }
  tidepool::engine::heavy_fence();
  for (worker* each = first; each != nullptr; each = each->next_of_all) {
    each->queue.section().await_owner();
  }
  for (worker* each = first; each != nullptr; each = each->next_of_all) {
    visit(*each);
  }
  then();
  for (worker* each = first; each != nullptr; each = each->next_of_all) {
    each->queue.section().leave_visit();
  }
}
