#include "engine/wait_single.hpp"

#include <mutex>

#include "engine/blocked_thread.hpp"
#include "engine/handle_table.hpp"
#include "engine/poller.hpp"
#include "engine/pool.hpp"
#include "engine/thread_record.hpp"

namespace tidepool::engine {

namespace {

struct single_wait : wait_block {
  explicit single_wait(thread_record& self) noexcept : wait_block(&offer_signal, &self) {}

  static void offer_signal(wait_block& block, dispatcher_object& object, deferred_actions& later) noexcept {
    auto& self = static_cast<single_wait&>(block);
    if (self.sleeper.claim()) {
      object.dequeue(self);
      self.sleeper.satisfy(0, object.consume(self.thread), later);
    }
  }

  blocked_thread sleeper;
};

/// Takes the object at once if possible. Otherwise queues `block`, if there is one.
bool consume_or_queue(dispatcher_object& object, thread_record& self, wait_block* block, wait_status& status) noexcept {
  const std::lock_guard guard{object.lock};
  if (block == nullptr ? object.probe(&self) : object.is_signalled_for(&self)) {
    status = object.consume(&self);
    return true;
  }
  if (block != nullptr) {
    object.enqueue(*block);
  }
  return false;
}

/// Whoever waits for a descriptor needs somebody who polls for it.
void have_served(const dispatcher_object& object) noexcept {
  if (object.kind == object_kind::descriptor) {
    poller::instance().ensure_served(_TP_POOL::process_default());
  }
}

}  // namespace

DWORD wait_for(dispatcher_object& object, DWORD milliseconds) noexcept {
  thread_record& self = thread_record::current();
  single_wait wait{self};
  wait_status status;
  DWORD result;
  if (consume_or_queue(object, self, milliseconds == 0 ? nullptr : &wait, status)) {
    result = blocked_thread::result(0, status);
  } else if (milliseconds == 0) {
    return WAIT_TIMEOUT;
  } else if (have_served(object); wait.sleeper.sleep(deadline{milliseconds})) {
    result = wait.sleeper.result();
  } else {
    const std::lock_guard guard{object.lock};
    object.dequeue(wait);
    return WAIT_TIMEOUT;
  }
  object.note_acquired(self);
  return result;
}

}  // namespace tidepool::engine

using namespace tidepool::engine;

DWORD WaitForSingleObject(HANDLE object, DWORD milliseconds) noexcept {
  const object_pin pin{object};  // keeps the object when the handle is closed meanwhile
  if (!pin) {
    return fail(ERROR_INVALID_HANDLE, WAIT_FAILED);
  }
  return pin->kind != object_kind::file ? wait_for(*pin, milliseconds) : fail(ERROR_NOT_SUPPORTED, WAIT_FAILED);
}

DWORD WaitForSingleObjectEx(HANDLE object, DWORD milliseconds, BOOL /*alertable*/) noexcept {
  return WaitForSingleObject(object, milliseconds);
}
