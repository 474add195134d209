// WaitForMultipleObjects: for any of several objects, or for all of them at once.
#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <span>

#include "engine/blocked_thread.hpp"
#include "engine/handle_table.hpp"
#include "engine/thread_record.hpp"
#include "engine/wait_single.hpp"

namespace tidepool::engine {

namespace {

using objects_view = std::span<dispatcher_object* const>;

struct multiple_wait;

/// The place of a wait in the queue of the object with this index.
struct indexed_block : wait_block {
  indexed_block(function how, multiple_wait& of, thread_record& self, DWORD number, bool is_joint) noexcept
      : wait_block(how, &self, is_joint), wait(of), index(number) {}

  multiple_wait& wait;
  DWORD index;
};

struct multiple_wait {
  multiple_wait(objects_view what, wait_block::function offer, bool joint) noexcept : objects(what) {
    for (DWORD i = 0; i < objects.size(); ++i) {
      blocks[i].emplace(offer, *this, self, i, joint);
    }
  }
  multiple_wait(const multiple_wait&) = delete;
  multiple_wait& operator=(const multiple_wait&) = delete;

  /// Takes the blocks of the first `count` objects out of the queues that they are still in.
  void withdraw(std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const std::lock_guard guard{objects[i]->lock};
      if (blocks[i]->queued) {
        objects[i]->dequeue(*blocks[i]);
      }
    }
  }

  const objects_view objects;
  thread_record& self = thread_record::current();
  blocked_thread sleeper;
  std::array<std::optional<indexed_block>, MAXIMUM_WAIT_OBJECTS> blocks;
};

// ---- any -------------------------------------------------------------------------------------------

void offer_to_any(wait_block& block, dispatcher_object& object, deferred_actions& later) noexcept {
  auto& self = static_cast<indexed_block&>(block);
  if (self.wait.sleeper.claim()) {
    object.dequeue(self);
    self.wait.sleeper.satisfy(self.index, object.consume(self.thread), later);
  }
}

DWORD wait_for_any(objects_view objects, DWORD milliseconds) noexcept {
  multiple_wait wait{objects, &offer_to_any, false};
  // Queues at one object after the other until one is signalled, so that of several the one with the lowest index wins,
  // unless one of those before is signalled meanwhile and ends the wait.
  std::size_t queued = 0;
  std::optional<DWORD> result;
  bool ended = false;
  for (; queued < objects.size() && !ended; ++queued) {
    dispatcher_object& object = *objects[queued];
    const std::lock_guard guard{object.lock};
    if (!object.is_signalled_for(&wait.self)) {
      if (milliseconds != 0) {
        object.enqueue(*wait.blocks[queued]);
      }
      continue;
    }
    ended = true;
    if (wait.sleeper.claim()) {
      result = blocked_thread::result(static_cast<DWORD>(queued), object.consume(&wait.self));
    }
  }
  if (!result && milliseconds == 0) {
    return WAIT_TIMEOUT;
  }
  if (!result && wait.sleeper.sleep(deadline{milliseconds})) {
    result = wait.sleeper.result();
  }
  wait.withdraw(queued);
  if (!result) {
    return WAIT_TIMEOUT;
  }
  // WAIT_ABANDONED_0 is a number beyond all indices.
  objects[*result % WAIT_ABANDONED_0]->note_acquired(wait.self);
  return *result;
}

// ---- all -------------------------------------------------------------------------------------------

static_assert(WAIT_OBJECT_0 == 0 && MAXIMUM_WAIT_OBJECTS <= WAIT_ABANDONED_0);

/// With the locks of all of them held.
bool all_signalled(objects_view objects, const thread_record& self) noexcept {
  return std::all_of(objects.begin(), objects.end(), [&](auto* object) { return object->is_signalled_for(&self); });
}

wait_status consume_all(objects_view objects, thread_record& self) noexcept {
  wait_status status = wait_status::signalled;
  for (dispatcher_object* object : objects) {
    if (object->consume(&self) == wait_status::abandoned) {
      status = wait_status::abandoned;
    }
  }
  return status;
}

/// Holds the locks of all objects but `except`, whose lock is held already. joint_lock is held throughout.
class several_locks {
 public:
  explicit several_locks(objects_view objects, const dispatcher_object* except = nullptr) noexcept
      : objects_(objects), except_(except) {
    for (dispatcher_object* object : objects_) {
      if (object != except_) {
        object->lock.lock();
      }
    }
  }
  ~several_locks() {
    for (dispatcher_object* object : objects_) {
      if (object != except_) {
        object->lock.unlock();
      }
    }
  }
  several_locks(const several_locks&) = delete;
  several_locks& operator=(const several_locks&) = delete;

 private:
  objects_view objects_;
  const dispatcher_object* except_;
};

void offer_to_all(wait_block& block, dispatcher_object& object, deferred_actions& later) noexcept {
  multiple_wait& wait = static_cast<indexed_block&>(block).wait;
  const several_locks locks{wait.objects, &object};
  if (!all_signalled(wait.objects, wait.self) || !wait.sleeper.claim()) {
    return;
  }
  for (std::size_t i = 0; i < wait.objects.size(); ++i) {
    wait.objects[i]->dequeue(*wait.blocks[i]);
  }
  wait.sleeper.satisfy(0, consume_all(wait.objects, wait.self), later);
}

DWORD wait_for_all(objects_view objects, DWORD milliseconds) noexcept {
  multiple_wait wait{objects, &offer_to_all, true};
  std::optional<DWORD> result;
  {
    const std::lock_guard guard{joint_lock};
    const several_locks locks{objects};
    if (all_signalled(objects, wait.self)) {
      result = blocked_thread::result(0, consume_all(objects, wait.self));
    } else if (milliseconds == 0) {
      return WAIT_TIMEOUT;
    } else {
      for (std::size_t i = 0; i < objects.size(); ++i) {
        objects[i]->enqueue(*wait.blocks[i]);
      }
    }
  }
  if (!result) {
    if (!wait.sleeper.sleep(deadline{milliseconds})) {
      wait.withdraw(objects.size());
      return WAIT_TIMEOUT;
    }
    result = wait.sleeper.result();
  }
  for (dispatcher_object* object : objects) {
    object->note_acquired(wait.self);
  }
  return *result;
}

bool has_duplicates(objects_view objects) noexcept {
  std::array<dispatcher_object*, MAXIMUM_WAIT_OBJECTS> sorted;
  const auto end = std::copy(objects.begin(), objects.end(), sorted.begin());
  std::sort(sorted.begin(), end);
  return std::adjacent_find(sorted.begin(), end) != end;
}

}  // namespace

}  // namespace tidepool::engine

using namespace tidepool::engine;

DWORD WaitForMultipleObjects(DWORD count, const HANDLE* handles_to_wait_for, BOOL wait_all,
                             DWORD milliseconds) noexcept {
  if (count == 0 || count > MAXIMUM_WAIT_OBJECTS || handles_to_wait_for == nullptr) {
    return fail(ERROR_INVALID_PARAMETER, WAIT_FAILED);
  }
  std::array<object_pin, MAXIMUM_WAIT_OBJECTS> pins;  // keep the objects when handles are closed meanwhile
  std::array<dispatcher_object*, MAXIMUM_WAIT_OBJECTS> objects;
  for (DWORD i = 0; i < count; ++i) {
    pins[i] = object_pin{handles_to_wait_for[i]};
    if (!pins[i]) {
      return fail(ERROR_INVALID_HANDLE, WAIT_FAILED);
    }
    if ((count != 1 && pins[i]->kind == object_kind::descriptor) || pins[i]->kind == object_kind::file) {
      return fail(ERROR_NOT_SUPPORTED, WAIT_FAILED);  // its state is not ours to look at together with others
    }
    objects[i] = &*pins[i];
  }
  const objects_view all{objects.data(), count};
  if (count == 1) {
    return wait_for(*objects[0], milliseconds);
  }
  if (!wait_all) {
    return wait_for_any(all, milliseconds);
  }
  // An object can not be taken twice at once.
  return has_duplicates(all) ? fail(ERROR_INVALID_PARAMETER, WAIT_FAILED) : wait_for_all(all, milliseconds);
}

DWORD WaitForMultipleObjectsEx(DWORD count, const HANDLE* handles_to_wait_for, BOOL wait_all, DWORD milliseconds,
                               BOOL /*alertable*/) noexcept {
  return WaitForMultipleObjects(count, handles_to_wait_for, wait_all, milliseconds);
}
