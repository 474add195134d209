// What events, semaphores and mutexes have in common: a state, and a queue of those who wait for it.
#pragma once

#include <cstdint>

#include "engine/assertion.hpp"
#include "engine/futex_lock.hpp"
#include "support/reference_count.hpp"

namespace tidepool::engine {

class dispatcher_object;
struct thread_record;

enum class object_kind : std::uint8_t { event, semaphore, mutex, descriptor, file };

/// How a wait was satisfied.
enum class wait_status : std::uint8_t { signalled, abandoned };

/// Something to do once no object's lock is held any more, such as waking a thread.
struct deferred_action {
  using function = void (*)(deferred_action&) noexcept;

  explicit deferred_action(function what) noexcept : run(what) {}

  deferred_action* next = nullptr;
  function run;  // the action may be gone when this returns
};

/// The deferred actions of one change, in order.
class deferred_actions {
 public:
  deferred_actions() = default;
  deferred_actions(const deferred_actions&) = delete;
  deferred_actions& operator=(const deferred_actions&) = delete;

  void add(deferred_action& action) noexcept {
    action.next = nullptr;
    *tail_ = &action;
    tail_ = &action.next;
  }

  void run_all() noexcept {
    for (deferred_action* action = head_; action != nullptr;) {
      deferred_action& current = *action;
      action = current.next;
      current.run(current);
    }
    head_ = nullptr;
    tail_ = &head_;
  }

 private:
  deferred_action* head_ = nullptr;
  deferred_action** tail_ = &head_;
};

/// One waiter's place in the queue of one object. Belongs to the waiter, who keeps it and the object alive while
/// it is queued.
struct wait_block {
  /// Offers the signal that `object` has for this block. Called with the object's lock held. To take it: dequeue the
  /// block, call object.consume(thread) once, and only then let the waiter know, who may destroy the block at once.
  /// To leave it (somebody else was faster, or other objects are not signalled yet): do nothing. Locks that this
  /// takes come after those of the objects; it neither blocks nor calls user code, and defers what would.
  using function = void (*)(wait_block&, dispatcher_object& object, deferred_actions&) noexcept;

  wait_block(function how, thread_record* who, bool is_joint = false) noexcept
      : offer(how), thread(who), joint(is_joint) {}
  wait_block(const wait_block&) = delete;
  wait_block& operator=(const wait_block&) = delete;

  function offer;
  thread_record* thread;  // on whose behalf; null when the waiter is no thread, and so can not own a mutex
  bool joint;             // waits for several objects at once: its offer takes the locks of all of them

  // Guarded by the object's lock.
  bool queued = false;
  wait_block* next = nullptr;
  wait_block* previous = nullptr;
};

/// Counted by reference; a handle is one reference, and so is whatever else must keep the object.
///
/// Locks: whoever holds one object's lock takes no other object's. The exception is a joint wait, which takes several,
/// in any order, under joint_lock; since nobody else waits for a lock while holding one, that can not deadlock.
class dispatcher_object {
 public:
  explicit dispatcher_object(object_kind of) noexcept : kind(of) {}
  dispatcher_object(const dispatcher_object&) = delete;
  dispatcher_object& operator=(const dispatcher_object&) = delete;

  /// For a caller who has a reference already.
  void add_reference() noexcept { references_.add(); }
  /// For a caller who has none, but knows that the object has not been destroyed yet.
  [[nodiscard]] bool try_add_reference() noexcept { return references_.try_add(); }
  void release_reference() noexcept {
    if (references_.drop()) {
      delete this;
    }
  }
  /// Whether the caller's reference is the only one, so that nobody can ever reach the object but the caller.
  [[nodiscard]] bool has_sole_reference() const noexcept { return references_.is_one(); }

  /// With the lock held: whether a wait by `thread` would succeed now.
  [[nodiscard]] virtual bool is_signalled_for(const thread_record* thread) const noexcept = 0;

  /// The same for an object whose state has to be asked for: more expensive, and up to date.
  [[nodiscard]] virtual bool probe(const thread_record* thread) const noexcept { return is_signalled_for(thread); }

  /// The same, if that is likely to be worth its price: for who waits all the same when the answer is no.
  [[nodiscard]] virtual bool glance(const thread_record* thread) noexcept { return is_signalled_for(thread); }

  /// With the lock held, while the object is signalled for `thread`: what a successful wait does to it.
  virtual wait_status consume(thread_record* thread) noexcept = 0;

  /// Called by a thread whose wait has consumed the object, without the lock.
  virtual void note_acquired(thread_record&) noexcept {}

  /// With the lock held: the queue, first in, first out.
  void enqueue(wait_block& block) noexcept;
  void dequeue(wait_block& block) noexcept;

  [[nodiscard]] bool has_waiters() const noexcept { return first_ != nullptr; }

  /// With the lock held: whether somebody waits for this object and others at once.
  [[nodiscard]] bool has_joint_waits() const noexcept { return joint_waits_ != 0; }

  /// With the lock held, and joint_lock if there are joint waits: offers the signal to one waiter after the other, as
  /// long as there is a signal.
  void satisfy_waiters(deferred_actions& later) noexcept;

  const object_kind kind;
  futex_lock lock;

 protected:
  virtual ~dispatcher_object() { TIDEPOOL_ASSERT(first_ == nullptr); }

 private:
  /// With the lock held: the queue is no longer empty, or is empty again.
  virtual void waiters_came() noexcept {}
  virtual void waiters_gone() noexcept {}

  support::reference_count references_;
  std::uint32_t joint_waits_ = 0;
  wait_block* first_ = nullptr;
  wait_block* last_ = nullptr;
};

/// Taken before the locks of several objects; see dispatcher_object.
extern futex_lock joint_lock;

/// Holds the lock of an object while its state changes in a way that may satisfy waiters. Once the lock is released it
/// does what satisfying them has deferred. Without waiters it makes no system call.
class state_change {
 public:
  explicit state_change(dispatcher_object& object) noexcept : object_(object) {
    object_.lock.lock();
    if (object_.has_joint_waits()) [[unlikely]] {
      object_.lock.unlock();  // the joint lock goes first
      joint_lock.lock();
      object_.lock.lock();
      joint_ = true;
    }
  }

  ~state_change() {
    object_.lock.unlock();
    if (joint_) {
      joint_lock.unlock();
    }
    later_.run_all();
  }

  state_change(const state_change&) = delete;
  state_change& operator=(const state_change&) = delete;

  /// To be called after the object was signalled.
  void satisfy_waiters() noexcept { object_.satisfy_waiters(later_); }

 private:
  dispatcher_object& object_;
  bool joint_ = false;
  deferred_actions later_;
};

}  // namespace tidepool::engine
