#include "engine/mutex.hpp"

#include <pthread.h>

#include <new>
#include <utility>

#include "engine/assertion.hpp"
#include "engine/handle_table.hpp"
#include "tidepool/win32/synchapi.h"

namespace tidepool::engine {

namespace {

void thread_ends(void* record) noexcept {
  auto& self = *static_cast<thread_record*>(record);
  self.hooked = false;  // who acquires a mutex in a later destructor of the thread gets another round
  mutex_object::abandon_all(self);
}

/// A key of the thread library and not an object with a destructor: keys come after the destructors of all C++
/// thread-local objects, which may still use mutexes.
pthread_key_t thread_end_key() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, [](void* record) { thread_ends(record); });
    return made;
  }();
  return key;
}

}  // namespace

bool mutex_object::release() noexcept {
  thread_record& self = thread_record::current();
  {
    state_change change{*this};
    if (owner_ != &self) {
      return false;
    }
    if (--recursion_ != 0) {
      return true;
    }
    unlist(self);  // first: the next owner may list it as soon as the lock is released
    owner_ = nullptr;
    change.satisfy_waiters();
  }
  release_reference();  // the owner's
  return true;
}

wait_status mutex_object::consume(thread_record* thread) noexcept {
  TIDEPOOL_ASSERT(thread != nullptr);
  if (owner_ == nullptr) {
    owner_ = thread;
    add_reference();
  }
  ++recursion_;
  return std::exchange(abandoned_, false) ? wait_status::abandoned : wait_status::signalled;
}

void mutex_object::note_acquired(thread_record& self) noexcept {
  if (listed_) {
    return;  // not for the first time
  }
  // Those that only their ownership keeps alive can never be released.
  for (mutex_object* other = self.owned; other != nullptr;) {
    mutex_object& current = *other;
    other = current.next_owned_;
    if (current.has_sole_reference()) {
      current.unlist(self);
      current.release_reference();
    }
  }
  list(self);
  if (!self.hooked) {
    self.hooked = pthread_setspecific(thread_end_key(), &self) == 0;
  }
}

void mutex_object::abandon_all(thread_record& self) noexcept {
  while (mutex_object* const owned = self.owned) {
    owned->unlist(self);
    owned->abandon();
  }
}

void mutex_object::abandon() noexcept {
  {
    state_change change{*this};
    owner_ = nullptr;
    recursion_ = 0;
    abandoned_ = true;
    change.satisfy_waiters();
  }
  release_reference();  // the owner's
}

void mutex_object::list(thread_record& self) noexcept {
  listed_ = true;
  previous_owned_ = nullptr;
  next_owned_ = self.owned;
  if (next_owned_ != nullptr) {
    next_owned_->previous_owned_ = this;
  }
  self.owned = this;
}

void mutex_object::unlist(thread_record& self) noexcept {
  listed_ = false;
  (previous_owned_ == nullptr ? self.owned : previous_owned_->next_owned_) = next_owned_;
  if (next_owned_ != nullptr) {
    next_owned_->previous_owned_ = previous_owned_;
  }
}

}  // namespace tidepool::engine

namespace {

using namespace tidepool::engine;

HANDLE create_mutex(bool named, DWORD flags) noexcept {
  if (named) {
    return fail<HANDLE>(ERROR_NOT_SUPPORTED);
  }
  if ((flags & ~CREATE_MUTEX_INITIAL_OWNER) != 0) {
    return fail<HANDLE>(ERROR_INVALID_PARAMETER);
  }
  auto* const object = new (std::nothrow) mutex_object;
  const bool owned = object != nullptr && (flags & CREATE_MUTEX_INITIAL_OWNER) != 0;
  thread_record& self = thread_record::current();
  if (owned) {
    object->consume(&self);  // nobody else knows the object yet
  }
  const HANDLE handle = open_new_object(object);
  if (owned && handle != nullptr) {
    object->note_acquired(self);
  } else if (owned) {
    object->release_reference();  // the owner's
  }
  return handle;
}

DWORD mutex_flags(BOOL initially_owned) noexcept { return initially_owned ? CREATE_MUTEX_INITIAL_OWNER : 0; }

}  // namespace

HANDLE CreateMutexA(LPSECURITY_ATTRIBUTES, BOOL initially_owned, LPCSTR name) noexcept {
  return create_mutex(name != nullptr, mutex_flags(initially_owned));
}

HANDLE CreateMutexW(LPSECURITY_ATTRIBUTES, BOOL initially_owned, LPCWSTR name) noexcept {
  return create_mutex(name != nullptr, mutex_flags(initially_owned));
}

HANDLE CreateMutexExA(LPSECURITY_ATTRIBUTES, LPCSTR name, DWORD flags, DWORD) noexcept {
  return create_mutex(name != nullptr, flags);
}

HANDLE CreateMutexExW(LPSECURITY_ATTRIBUTES, LPCWSTR name, DWORD flags, DWORD) noexcept {
  return create_mutex(name != nullptr, flags);
}

BOOL ReleaseMutex(HANDLE mutex) noexcept {
  return with_object<mutex_object>(
      mutex, [](mutex_object& object) noexcept { return object.release() ? TRUE : fail(ERROR_NOT_OWNER); });
}
