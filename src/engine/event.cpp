#include "engine/event.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <new>

#include "engine/handle_table.hpp"
#include "tidepool/win32/synchapi.h"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::engine {

void event_object::set() noexcept {
  state_change change{*this};
  if (!set_) {  // a set event has no waiters to satisfy, but joint ones that lack something else
    set_ = true;
    change.satisfy_waiters();
    reflect();
  }
}

void event_object::reset() noexcept {
  const std::lock_guard guard{lock};
  set_ = false;
  reflect();
}

wait_status event_object::consume(thread_record*) noexcept {
  set_ = manual_reset_;
  reflect();
  return wait_status::signalled;
}

event_object::~event_object() {
  if (mirror_ >= 0) {
    close(mirror_);
  }
}

int event_object::descriptor() noexcept {
  const std::lock_guard guard{lock};
  if (mirror_ < 0) {
    mirror_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    mirrors_set_ = false;
    reflect();
  }
  return mirror_;
}

/// With the lock held, after a change.
void event_object::reflect() noexcept {
  if (mirror_ >= 0 && mirrors_set_ != set_) {
    mirrors_set_ = set_;
    std::uint64_t value = 1;
    static_cast<void>(set_ ? write(mirror_, &value, sizeof value) : read(mirror_, &value, sizeof value));
  }
}

}  // namespace tidepool::engine

namespace {

using namespace tidepool::engine;

HANDLE create_event(bool named, DWORD flags) noexcept {
  if (named) {
    return fail<HANDLE>(ERROR_NOT_SUPPORTED);
  }
  if ((flags & ~(CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET)) != 0) {
    return fail<HANDLE>(ERROR_INVALID_PARAMETER);
  }
  return open_new_object(new (std::nothrow) event_object{(flags & CREATE_EVENT_MANUAL_RESET) != 0,
                                                         (flags & CREATE_EVENT_INITIAL_SET) != 0});
}

DWORD event_flags(BOOL manual_reset, BOOL initially_set) noexcept {
  return (manual_reset ? CREATE_EVENT_MANUAL_RESET : 0) | (initially_set ? CREATE_EVENT_INITIAL_SET : 0);
}

}  // namespace

HANDLE CreateEventA(LPSECURITY_ATTRIBUTES, BOOL manual_reset, BOOL initially_set, LPCSTR name) noexcept {
  return create_event(name != nullptr, event_flags(manual_reset, initially_set));
}

HANDLE CreateEventW(LPSECURITY_ATTRIBUTES, BOOL manual_reset, BOOL initially_set, LPCWSTR name) noexcept {
  return create_event(name != nullptr, event_flags(manual_reset, initially_set));
}

HANDLE CreateEventExA(LPSECURITY_ATTRIBUTES, LPCSTR name, DWORD flags, DWORD) noexcept {
  return create_event(name != nullptr, flags);
}

HANDLE CreateEventExW(LPSECURITY_ATTRIBUTES, LPCWSTR name, DWORD flags, DWORD) noexcept {
  return create_event(name != nullptr, flags);
}

BOOL SetEvent(HANDLE event) noexcept {
  return with_object<event_object>(event, [](event_object& object) noexcept {
    object.set();
    return TRUE;
  });
}

BOOL ResetEvent(HANDLE event) noexcept {
  return with_object<event_object>(event, [](event_object& object) noexcept {
    object.reset();
    return TRUE;
  });
}

int TidepoolEventDescriptor(HANDLE event) noexcept {
  int result = -1;
  with_object<event_object>(event, [&result](event_object& object) noexcept {
    result = object.descriptor();
    return result >= 0 ? TRUE : fail(ERROR_TOO_MANY_OPEN_FILES);
  });
  return result;
}
