// Handles: what is one, closing, duplicating, comparing.
#include <cstdint>
#include <set>
#include <vector>

#include "contract/objects.hpp"

namespace contract {
namespace {

class handles : public contract_test {};

std::uintptr_t number(HANDLE of) { return reinterpret_cast<std::uintptr_t>(of); }
HANDLE from_number(std::uintptr_t number) { return reinterpret_cast<HANDLE>(number); }

BOOL duplicate_to(HANDLE source, HANDLE* target, DWORD options = DUPLICATE_SAME_ACCESS) {
  return DuplicateHandle(GetCurrentProcess(), source, GetCurrentProcess(), target, 0, FALSE, options);
}

/// CompareObjectHandles, which the import libraries of some toolchains lack.
BOOL same_object(HANDLE first, HANDLE second) {
#ifdef _WIN32
  using function = BOOL(WINAPI*)(HANDLE, HANDLE);
  static const auto compare = reinterpret_cast<function>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleA("kernelbase.dll"), "CompareObjectHandles")));
  return compare(first, second);
#else
  return CompareObjectHandles(first, second);
#endif
}

void expect_invalid_everywhere(HANDLE bad) {
  HANDLE target = nullptr;
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, SetEvent(bad));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ResetEvent(bad));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseSemaphore(bad, 1, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseMutex(bad));
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_HANDLE, WaitForSingleObject(bad, 0));
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_HANDLE, WaitForSingleObjectEx(bad, INFINITE, TRUE));
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_HANDLE, WaitForMultipleObjects(1, &bad, FALSE, INFINITE));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, duplicate_to(bad, &target));
  EXPECT_EQ(target, nullptr);
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, CloseHandle(bad));
}

TEST_F(handles, are_neither_null_nor_minus_one_and_have_two_low_bits_clear) {
  const handle objects[] = {manual_event(), automatic_event(), semaphore(0, 1), mutex()};
  for (const handle& object : objects) {
    EXPECT_NE(HANDLE{object}, nullptr);
    EXPECT_NE(HANDLE{object}, INVALID_HANDLE_VALUE);
    EXPECT_EQ(number(object) & 3, 0u);
  }
}

// Contract 38
TEST_F(handles, that_are_null_are_invalid) { expect_invalid_everywhere(nullptr); }

// Contract 38
TEST_F(handles, that_were_closed_are_invalid) {
  for (const auto make : {+[] { return manual_event(); }, +[] { return semaphore(0, 1); }, +[] { return mutex(); }}) {
    handle object = make();
    const HANDLE closed = object;
    object.close();
    expect_invalid_everywhere(closed);
  }
}

// Contract 38
TEST_F(handles, made_up_from_numbers_are_invalid) {
  const handle event = manual_event();
  for (const std::uintptr_t made_up :
       {std::uintptr_t{0x7ffffff0}, std::uintptr_t{0x00fffffc}, number(event) + (1u << 25)}) {
    expect_invalid_everywhere(from_number(made_up));
  }
  // Minus one is the pseudo-handle of the process, which is no event.
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, SetEvent(INVALID_HANDLE_VALUE));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseMutex(INVALID_HANDLE_VALUE));
  EXPECT_TRUE(SetEvent(event));
}

TEST_F(handles, may_be_marked_in_their_two_low_bits) {
  const handle event = automatic_event();
  EXPECT_TRUE(SetEvent(from_number(number(event) | 1)));
  EXPECT_TRUE(take(from_number(number(event) | 2)));
}

// Contract 38
TEST_F(handles, to_another_kind_of_object_are_invalid) {
  const handle event = manual_event();
  const handle count = semaphore(0, 1);
  const handle lock = mutex();
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, SetEvent(count));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, SetEvent(lock));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ResetEvent(lock));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseSemaphore(event, 1, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseSemaphore(lock, 1, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseMutex(event));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReleaseMutex(count));
}

TEST_F(handles, of_many_objects_are_all_different_and_all_work) {
  std::vector<handle> events;
  std::set<HANDLE> numbers;
  for (int i = 0; i != 5000; ++i) {
    events.push_back(manual_event());
    numbers.insert(events.back());
  }
  EXPECT_EQ(numbers.size(), events.size());
  for (std::size_t i = 0; i < events.size(); i += 2) {
    ASSERT_TRUE(SetEvent(events[i]));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(take(events[i]), i % 2 == 0) << i;
  }
}

// Contract 38
TEST_F(handles, duplicated_name_the_same_object) {
  handle first = automatic_event();
  const handle second = duplicate(first);
  EXPECT_NE(HANDLE{first}, HANDLE{second});
  EXPECT_TRUE(SetEvent(first));
  EXPECT_TRUE(take(second));
  EXPECT_FALSE(take(first));

  first.close();
  EXPECT_TRUE(SetEvent(second));
  EXPECT_TRUE(take(second));
}

TEST_F(handles, are_closed_by_a_duplication_that_is_told_to) {
  SKIP_UNDER_WINE("a handle that is moved within its process keeps its number");
  const HANDLE source = CreateEventA(nullptr, TRUE, FALSE, nullptr);
  HANDLE moved = nullptr;
  EXPECT_TRUE(duplicate_to(source, &moved, DUPLICATE_CLOSE_SOURCE | DUPLICATE_SAME_ACCESS));
  const handle event{moved};
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, CloseHandle(source));
  EXPECT_TRUE(SetEvent(event));
}

TEST_F(handles, are_closed_by_a_duplication_to_nowhere) {
  SKIP_UNDER_WINE("a null target process is refused");
  const HANDLE source = CreateEventA(nullptr, TRUE, FALSE, nullptr);
  EXPECT_TRUE(DuplicateHandle(GetCurrentProcess(), source, nullptr, nullptr, 0, FALSE, DUPLICATE_CLOSE_SOURCE));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, CloseHandle(source));
}

TEST_F(handles, can_not_be_duplicated_into_an_unknown_process) {
  const handle event = manual_event();
  HANDLE target = nullptr;
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE,
                    DuplicateHandle(nullptr, event, GetCurrentProcess(), &target, 0, FALSE, DUPLICATE_SAME_ACCESS));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE,
                    DuplicateHandle(GetCurrentProcess(), event, event, &target, 0, FALSE, DUPLICATE_SAME_ACCESS));
  EXPECT_EQ(target, nullptr);
}

// Contract 38
TEST_F(handles, compare_as_equal_when_they_name_the_same_object) {
  const handle event = manual_event();
  const handle again = duplicate(event);
  const handle other = manual_event();
  EXPECT_TRUE(same_object(event, event));
  EXPECT_TRUE(same_object(event, again));
  EXPECT_FALSE(same_object(event, other));
  EXPECT_FALSE(same_object(event, nullptr));
}

TEST_F(handles, closed_during_a_wait_leave_the_waiting_thread_alone) {
  handle event = automatic_event();
  const handle other = duplicate(event);
  waiters threads{2, event};
  ASSERT_TRUE(threads.asleep());
  event.close();
  EXPECT_TRUE(SetEvent(other));
  EXPECT_TRUE(threads.returned(1));
  EXPECT_TRUE(SetEvent(other));
  EXPECT_TRUE(threads.returned(2));
  EXPECT_EQ(threads.results(), (std::vector<DWORD>{WAIT_OBJECT_0, WAIT_OBJECT_0}));
}

class last_error_of_objects : public contract_test {};

// Contract 39
TEST_F(last_error_of_objects, is_left_alone_by_what_succeeds) {
  const handle event = manual_event();
  const handle count = semaphore(0, 2);
  const handle lock = mutex();
  constexpr DWORD mark = 4711;
  SetLastError(mark);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(ResetEvent(event));
  EXPECT_EQ(WaitForSingleObject(event, 0), static_cast<DWORD>(WAIT_TIMEOUT));
  EXPECT_TRUE(ReleaseSemaphore(count, 1, nullptr));
  EXPECT_EQ(WaitForSingleObject(count, INFINITE), WAIT_OBJECT_0);
  EXPECT_EQ(WaitForSingleObject(lock, INFINITE), WAIT_OBJECT_0);
  EXPECT_TRUE(ReleaseMutex(lock));
  HANDLE second = nullptr;
  EXPECT_TRUE(duplicate_to(event, &second));
  EXPECT_TRUE(CloseHandle(second));
  EXPECT_EQ(GetLastError(), mark);
}

// Contract 39
TEST_F(last_error_of_objects, is_success_after_an_object_was_made) {
  // Programs look for ERROR_ALREADY_EXISTS after a creation that succeeded.
  SetLastError(4711);
  const handle event = manual_event();
  EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_SUCCESS));
  SetLastError(4711);
  const handle count = semaphore(1, 1);
  EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_SUCCESS));
  SetLastError(4711);
  const handle lock = mutex();
  EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_SUCCESS));
}

}  // namespace
}  // namespace contract
