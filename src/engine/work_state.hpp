// The life of a work object in one atomic word.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/assertion.hpp"

namespace tidepool::engine {

/// Bits of the word:
///
///    0..33  pending    submissions that nobody has claimed. Not zero exactly while the object's entry is in a
///                      queue or in the hands of the worker that took it out: whoever raises it from zero
///                      queues the entry.
///   34..57  claims     by workers: each stands for one or more submissions that one of them runs, or runs next; for an
///                      I/O object each stands for a request
///   58      phantom    one of `pending` is none: cancelling leaves the entry where it is, to be found empty
///   59      waited     a thread sleeps until the object is quiet. Set and cleared with the parking lot's lock
///                      held; while it is set, claims and pending go to nothing only with that lock held.
///   60      closed     the user has closed the object
///   61      held       a cleanup group is releasing the object and will free it
///
/// The object is quiet when no real submission is pending and nothing is claimed. It is unowned, and freed by
/// whoever made it so, when pending and claims are zero (the phantom's entry counts) and it is closed and not
/// held. Every change is a read-modify-write of this one word, so exactly one thread sees it become so.
class work_state {
 public:
  static constexpr std::uint64_t everything = ~std::uint64_t{0};

  struct claimed {
    std::uint64_t count;  // how many submissions the caller runs now; it holds one claim unless zero
    bool remaining;       // the entry has to be queued again
    bool unowned;         // nothing was left and the caller frees the object
  };

  /// Adds submissions. Returns whether the caller has to queue the entry.
  /// Release: what the submitter did before is seen by the callback (acquire in claim()).
  bool submit(std::uint64_t count = 1) noexcept {
    const std::uint64_t before = word_.fetch_add(count, std::memory_order_acq_rel);
    TIDEPOOL_ASSERT(pending(before) + count <= pending_mask);
    return pending(before) == 0;
  }

  /// Adds a submission, unless the object is closed. Returns whether the caller has to queue the entry. Release as in
  /// submit().
  bool submit_unless_closed() noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    do {
      if ((now & closed) != 0) {
        return false;
      }
    } while (!word_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    return pending(now) == 0;
  }

  /// Adds one submission that the calling worker has claimed from the start. Acquire and release as in submit()
  /// and claim().
  void submit_claimed() noexcept { word_.fetch_add(one_claim, std::memory_order_acq_rel); }

  /// Turns a claim into a submission that anybody may claim. Returns whether the caller has to queue the entry.
  bool unclaim() noexcept { return pending(word_.fetch_sub(one_claim - 1, std::memory_order_acq_rel)) == 0; }

  /// By the worker that has the entry in its hands: claims up to `limit` submissions. None from an entry whose
  /// submissions were dropped: what was submitted since then has no right to its place in the queue.
  claimed claim(std::uint64_t limit) noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t available = real_pending(now);
      const std::uint64_t most = (now & phantom) != 0 ? 0 : limit;
      const std::uint64_t count = available < most ? available : most;
      const std::uint64_t left = available - count;
      std::uint64_t next = (now & ~(pending_mask | phantom)) | left;
      if (count != 0) {
        next += one_claim;
      }
      // Acquire: pairs with submit(). Release: pairs with the acquire of wait and close, which may see the
      // word with this claim in it.
      if (word_.compare_exchange_weak(now, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return {count, left != 0, unowned(next)};
      }
    }
  }

  enum class settled { done, unowned, waited };

  /// Ends a claim. When somebody waits, nothing has changed: the caller takes the parking lot's lock and calls
  /// settle_waited(). Otherwise the object must not be touched after `done`, and be freed after `unowned`.
  settled settle() noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    for (;;) {
      TIDEPOOL_ASSERT(claims(now) != 0);
      if ((now & waited) != 0) {
        return settled::waited;
      }
      // Release: what the callback did is seen by whoever finds the object quiet (acquire in is_quiet()).
      if (word_.compare_exchange_weak(now, now - one_claim, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return unowned(now - one_claim) ? settled::unowned : settled::done;
      }
    }
  }

  /// What a change made under the parking lot's lock leads to.
  struct outcome {
    bool wake;     // sleepers have to be woken, with the lock still held
    bool unowned;  // the caller frees the object, after releasing the lock
  };

  /// As settle(), with the parking lot's lock held.
  outcome settle_waited() noexcept {
    return change_waited([](std::uint64_t now) { return now - one_claim; });
  }

  struct cancelled {
    std::uint64_t dropped;
    std::uint64_t claims;  // what workers have claimed and not started is revoked separately
    bool wake;
  };

  /// With the parking lot's lock held: drops what nobody has claimed.
  cancelled cancel() noexcept {
    std::uint64_t before = 0;
    const outcome result = change_waited([&before](std::uint64_t now) {
      before = now;
      return pending(now) == 0 ? now : ((now & ~pending_mask) | phantom | 1);
    });
    TIDEPOOL_ASSERT(!result.unowned);
    return {real_pending(before), claims(before) / one_claim, result.wake};
  }

  /// The user closes the object. Returns whether the caller frees it.
  bool close() noexcept {
    const std::uint64_t before = word_.fetch_or(closed, std::memory_order_acq_rel);
    TIDEPOOL_ASSERT((before & closed) == 0);
    return unowned(before | closed);
  }

  /// A group takes the object for release; false when its last owner is already about to free it.
  bool hold() noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    do {
      if (unowned(now)) {
        return false;
      }
    } while (!word_.compare_exchange_weak(now, now | held, std::memory_order_acq_rel, std::memory_order_relaxed));
    return true;
  }

  /// The group lets go, closing the object if its user has not. Returns whether the caller frees it.
  bool let_go() noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(now, (now | closed) & ~held, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
    }
    return unowned((now | closed) & ~held);
  }

  /// Acquire: pairs with the release of the settle() that made it quiet.
  [[nodiscard]] bool is_quiet() const noexcept { return quiet(word_.load(std::memory_order_acquire)); }
  /// Whether nothing is pending, and nothing claimed but the caller's own claims.
  [[nodiscard]] bool is_quiet_but_for(std::uint64_t own) const noexcept {
    const std::uint64_t now = word_.load(std::memory_order_acquire);
    return real_pending(now) == 0 && claims(now) / one_claim <= own;
  }
  [[nodiscard]] bool is_closed() const noexcept { return (word_.load(std::memory_order_acquire) & closed) != 0; }

  /// With the parking lot's lock held: notes that the caller sleeps, unless the object is quiet.
  bool announce_waiter() noexcept {
    std::uint64_t now = word_.load(std::memory_order_acquire);
    do {
      if (quiet(now)) {
        return false;
      }
    } while (!word_.compare_exchange_weak(now, now | waited, std::memory_order_acq_rel, std::memory_order_acquire));
    return true;
  }

  /// Submissions that no worker has claimed, at some moment during the call.
  [[nodiscard]] std::uint64_t queued() const noexcept { return real_pending(word_.load(std::memory_order_relaxed)); }

 private:
  static constexpr unsigned pending_bits = 34;
  static constexpr unsigned claims_bits = 24;
  static constexpr std::uint64_t pending_mask = (std::uint64_t{1} << pending_bits) - 1;
  static constexpr std::uint64_t one_claim = std::uint64_t{1} << pending_bits;
  static constexpr std::uint64_t claims_mask = ((std::uint64_t{1} << claims_bits) - 1) << pending_bits;
  static constexpr std::uint64_t phantom = std::uint64_t{1} << (pending_bits + claims_bits);
  static constexpr std::uint64_t waited = phantom << 1;
  static constexpr std::uint64_t closed = phantom << 2;
  static constexpr std::uint64_t held = phantom << 3;

  static constexpr std::uint64_t pending(std::uint64_t word) noexcept { return word & pending_mask; }
  static constexpr std::uint64_t claims(std::uint64_t word) noexcept { return word & claims_mask; }
  static constexpr std::uint64_t real_pending(std::uint64_t word) noexcept {
    return pending(word) - ((word & phantom) != 0 ? 1 : 0);
  }
  static constexpr bool quiet(std::uint64_t word) noexcept { return real_pending(word) == 0 && claims(word) == 0; }
  static constexpr bool unowned(std::uint64_t word) noexcept {
    return (word & (pending_mask | claims_mask | held | closed)) == closed;
  }

  template <class Change>
  outcome change_waited(Change change) noexcept {
    std::uint64_t now = word_.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = change(now);
      const bool wake = (next & waited) != 0 && quiet(next);
      if (wake) {
        next &= ~waited;
      }
      if (word_.compare_exchange_weak(now, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return {wake, unowned(next)};
      }
    }
  }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace tidepool::engine
