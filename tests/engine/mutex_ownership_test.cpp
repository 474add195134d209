// Which mutexes a thread is known to own, as seen from inside.
#include <gtest/gtest.h>

#include <cstddef>

#include "engine/mutex.hpp"
#include "engine/thread_record.hpp"
#include "tidepool/win32/windows.h"

namespace {

using tidepool::engine::mutex_object;
using tidepool::engine::thread_record;

std::size_t owned_mutexes() {
  std::size_t count = 0;
  for (const mutex_object* one = thread_record::current().owned; one != nullptr; one = one->next_owned()) {
    ++count;
  }
  return count;
}

TEST(mutex_ownership, lists_each_mutex_once_from_the_first_acquisition_to_the_last_release) {
  const HANDLE one = CreateMutexA(nullptr, FALSE, nullptr);
  const HANDLE two = CreateMutexA(nullptr, TRUE, nullptr);
  EXPECT_EQ(owned_mutexes(), 1u);
  WaitForSingleObject(one, INFINITE);
  WaitForSingleObject(one, INFINITE);
  EXPECT_EQ(owned_mutexes(), 2u);
  ReleaseMutex(two);
  EXPECT_EQ(owned_mutexes(), 1u);
  ReleaseMutex(one);
  EXPECT_EQ(owned_mutexes(), 1u);
  ReleaseMutex(one);
  EXPECT_EQ(owned_mutexes(), 0u);
  CloseHandle(one);
  CloseHandle(two);
}

TEST(mutex_ownership, of_mutexes_without_a_handle_ends_when_another_is_acquired) {
  for (int i = 0; i != 10; ++i) {
    const HANDLE mutex = CreateMutexA(nullptr, TRUE, nullptr);
    EXPECT_EQ(owned_mutexes(), 1u);
    CloseHandle(mutex);
  }
  const HANDLE last = CreateMutexA(nullptr, TRUE, nullptr);
  EXPECT_EQ(owned_mutexes(), 1u);
  ReleaseMutex(last);
  CloseHandle(last);
}

}  // namespace
