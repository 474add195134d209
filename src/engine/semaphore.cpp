#include "engine/semaphore.hpp"

#include <new>

#include "engine/handle_table.hpp"
#include "tidepool/win32/synchapi.h"

namespace tidepool::engine {

bool semaphore_object::release(LONG amount, LONG& previous) noexcept {
  state_change change{*this};
  if (amount > maximum_ - count_) {
    return false;
  }
  previous = count_;
  count_ += amount;
  change.satisfy_waiters();
  return true;
}

wait_status semaphore_object::consume(thread_record*) noexcept {
  --count_;
  return wait_status::signalled;
}

}  // namespace tidepool::engine

namespace {

using namespace tidepool::engine;

HANDLE create_semaphore(bool named, LONG initial_count, LONG maximum_count) noexcept {
  if (named) {
    return fail<HANDLE>(ERROR_NOT_SUPPORTED);
  }
  if (initial_count < 0 || maximum_count <= 0 || initial_count > maximum_count) {
    return fail<HANDLE>(ERROR_INVALID_PARAMETER);
  }
  return open_new_object(new (std::nothrow) semaphore_object{initial_count, maximum_count});
}

}  // namespace

HANDLE CreateSemaphoreA(LPSECURITY_ATTRIBUTES, LONG initial_count, LONG maximum_count, LPCSTR name) noexcept {
  return create_semaphore(name != nullptr, initial_count, maximum_count);
}

HANDLE CreateSemaphoreW(LPSECURITY_ATTRIBUTES, LONG initial_count, LONG maximum_count, LPCWSTR name) noexcept {
  return create_semaphore(name != nullptr, initial_count, maximum_count);
}

BOOL ReleaseSemaphore(HANDLE semaphore, LONG release_count, LPLONG previous_count) noexcept {
  if (release_count <= 0) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  return with_object<semaphore_object>(semaphore, [=](semaphore_object& object) noexcept {
    LONG previous;
    if (!object.release(release_count, previous)) {
      return fail(ERROR_TOO_MANY_POSTS);
    }
    if (previous_count != nullptr) {
      *previous_count = previous;
    }
    return TRUE;
  });
}
