// What one worker has taken over and not yet started, kept where other threads can get at it.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/owner_section.hpp"
#include "engine/packet_queue.hpp"
#include "engine/work_state.hpp"

struct _TP_POOL;

namespace tidepool::engine {

struct callback_object;

/// From the oldest to the newest: entries older than anything in the port, all of one priority level; and, on
/// pools of several workers, entries newer than those, on their way to the port, and at most one that overtakes.
/// Besides, a claim: submissions of one work object that are run in a row while nothing else is queued. On a pool of one
/// worker the order is the port's, first in, first out within a level; with several there is no telling anyway which of two
/// entries that are taken at the same time starts first.
///
/// Pushing and popping cost no atomic read-modify-write. Lock order: a section, then the pool's lock.
class local_queue {
 public:
  explicit local_queue(_TP_POOL& pool) noexcept : pool_(pool) {}

  // ---- the owner ----

  enum class push_result { queued, refused, needs_bundle };

  /// Queues `entry` here; refuses when that would break the order, so that it has to go to the port.
  push_result push(packet& entry) noexcept;

  /// Queues `entry` before everything else here, on a pool of several workers. Each callback can have this once, unless it
  /// overtook others itself: so what overtakes delays the others by no more than one callback for each of theirs. False
  /// when it has to be pushed as usual.
  bool push_overtaking(packet& entry) noexcept;

  /// The same as push() for a one-off callback of `level`; `fresh` as in packet_queue::push_back.
  push_result push(const callback_record& record, unsigned level, bundle*& fresh) noexcept;

  /// Submits `work` once to be run next, when nothing at all is queued; false when something is, and nothing
  /// was done. The submission is claimed from the start, which saves a change of the work's state.
  bool submit_next(callback_object& object) noexcept;

  /// Takes the oldest entry out, unless there is none or the port holds something more urgent. If it is a work
  /// object's, it may come with a claim: see has_claim().
  bool pop(task& into) noexcept;

  /// The owner has taken from the port what it runs next.
  void note_taken_elsewhere() noexcept { may_overtake_ = true; }

  /// Whether the owner runs, or has just popped, claimed submissions of `work`.
  [[nodiscard]] bool has_claim(const callback_object& object) const noexcept { return claimed_ == &object; }

  /// Keeps what was taken from the port in one go.
  void keep(packet_queue& taken, unsigned level) noexcept;

  /// Claims submissions of `work`, whose entry the caller has taken: one, or all when nothing else is queued.
  work_state::claimed claim(callback_object& object) noexcept;

  struct step {
    bool again;             // run the same work once more
    callback_object* next;  // if not: run this one, which comes with a claim; null: the caller pops
  };

  /// After a run of claimed work. If not again, what was left is queued again, and the caller settles the claim.
  step advance(const callback_object& object) noexcept;

  /// Ends the claim of `work` from inside its callback; what it had left is queued again.
  void release_claim(const callback_object& object) noexcept;

  /// Puts everything back into the port: before this worker is held up.
  void surrender() noexcept;

  /// How many callbacks to take from the port in one go: few for a worker that was found stuck on one, more the
  /// longer it was not.
  [[nodiscard]] std::size_t appetite() noexcept {
    const std::size_t now = appetite_.load(std::memory_order_relaxed);
    appetite_.store(now < 64 ? now * 2 : now, std::memory_order_relaxed);
    return now;
  }

  /// The queue is empty, and its owner looks for something else to do.
  void rest() noexcept {
    TIDEPOOL_ASSERT(backlog() == 0);
    fences_lightly_.store(false, std::memory_order_release);
  }

  // ---- visitors ----

  /// Whether the owner, since its last rest, has added something, which it may have done with the light fence. Acquire:
  /// pairs with the release in rest(), so that who finds it resting has seen what it had added before.
  [[nodiscard]] bool fences_lightly() const noexcept { return fences_lightly_.load(std::memory_order_acquire); }

  /// Callbacks not started yet. A hint.
  [[nodiscard]] std::uint64_t backlog() const noexcept { return queued() + claim_left(); }

  /// Asks the owner to put a part back when it next comes to it.
  void ask_to_share() noexcept { asked_to_share_.store(true, std::memory_order_relaxed); }

  /// Puts everything back into the port for an owner that does not come to it.
  void take_away() noexcept;

  owner_section& section() noexcept { return section_; }

  struct revoked {
    std::uint64_t submissions;
    bool claim;  // one of them had a claim of its own, which the caller settles
  };

  /// With the section visited: drops what is claimed of `work` and not started.
  revoked revoke(const callback_object& object) noexcept;

 private:
  template <class Add>
  push_result push_with(unsigned level, Add add) noexcept;
  void share_if_asked() noexcept {
    if (asked_to_share_.load(std::memory_order_relaxed)) [[unlikely]] {
      share();
    }
  }
  void share() noexcept;
  /// After an addition: makes sure that somebody notices it should the owner be held up.
  void have_attended() noexcept;
  void put_back(std::size_t entries, std::uint64_t claimed) noexcept;
  void put_all_back() noexcept;
  void send_outgoing() noexcept;
  void publish_queued() noexcept {
    queued_.store(entries_.size() + outgoing_.size() + (next_ != nullptr ? 1 : 0), std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t claim_left() const noexcept { return claim_left_.load(std::memory_order_relaxed); }

  _TP_POOL& pool_;
  /// Holds the section as its owner for a scope.
  class owner_guard {
   public:
    explicit owner_guard(owner_section& section) noexcept : section_(section) { section_.enter(); }
    ~owner_guard() { section_.leave(); }
    owner_guard(const owner_guard&) = delete;
    owner_guard& operator=(const owner_guard&) = delete;

   private:
    owner_section& section_;
  };

  // Changed only inside section_, by the owner or a visitor. What is atomic (relaxed) everybody may peek at.
  owner_section section_;
  callback_object* claimed_ = nullptr;  // what runs now; only the owner changes it
  callback_object* next_ = nullptr;     // the oldest of all here, with a claim of its own
  std::atomic<std::uint64_t> claim_left_{0};
  std::atomic<std::size_t> queued_{0};  // all but the claim
  packet_queue entries_;
  packet_queue outgoing_;
  unsigned entries_level_ = normal_level;
  unsigned outgoing_level_ = normal_level;
  // Of the owner alone. The entry may have been taken away, and gone: it is only compared.
  const packet* overtaking_ = nullptr;
  bool may_overtake_ = true;
  // Relaxed: hints, through which nothing is published.
  std::atomic<std::size_t> appetite_{1};
  std::atomic<bool> asked_to_share_{false};
  /// Written by the owner alone, and read by fences_lightly().
  std::atomic<bool> fences_lightly_{false};
};

}  // namespace tidepool::engine
