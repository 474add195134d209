// Events, semaphores, and waiting for one of them.
#include <algorithm>
#include <limits>
#include <vector>

#include "contract/objects.hpp"

namespace contract {
namespace {

// The numbers are those of Windows, written down here a second time.
static_assert(WAIT_OBJECT_0 == 0 && WAIT_ABANDONED_0 == 128 && WAIT_TIMEOUT == 258 && WAIT_FAILED == 0xFFFFFFFF);
static_assert(INFINITE == 0xFFFFFFFF && MAXIMUM_WAIT_OBJECTS == 64);
static_assert(CREATE_EVENT_MANUAL_RESET == 1 && CREATE_EVENT_INITIAL_SET == 2 && CREATE_MUTEX_INITIAL_OWNER == 1);
static_assert(DUPLICATE_CLOSE_SOURCE == 1 && DUPLICATE_SAME_ACCESS == 2);
static_assert(ERROR_INVALID_HANDLE == 6 && ERROR_INVALID_PARAMETER == 87 && ERROR_NOT_OWNER == 288);
static_assert(ERROR_TOO_MANY_POSTS == 298 && ERROR_MOD_NOT_FOUND == 126 && ERROR_PROC_NOT_FOUND == 127);
static_assert(SYNCHRONIZE == 0x00100000 && EVENT_ALL_ACCESS == 0x001F0003 && MUTEX_ALL_ACCESS == 0x001F0001);

constexpr DWORD timed_out = WAIT_TIMEOUT;

class events : public contract_test {};

// Contract 37
TEST_F(events, with_manual_reset_stay_signalled_until_they_are_reset) {
  const handle event = manual_event();
  EXPECT_FALSE(take(event));
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(take(event));
  EXPECT_TRUE(take(event));
  EXPECT_TRUE(ResetEvent(event));
  EXPECT_FALSE(take(event));
}

// Contract 37
TEST_F(events, with_automatic_reset_are_reset_by_the_wait_they_satisfy) {
  const handle event = automatic_event();
  EXPECT_FALSE(take(event));
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(take(event));
  EXPECT_FALSE(take(event));
}

// Contract 37
TEST_F(events, that_are_set_do_not_change_when_they_are_set_again) {
  const handle event = automatic_event();
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(take(event));
  EXPECT_FALSE(take(event));
}

TEST_F(events, can_be_reset_when_they_are_not_set) {
  const handle event = automatic_event();
  EXPECT_TRUE(ResetEvent(event));
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(ResetEvent(event));
  EXPECT_FALSE(take(event));
}

TEST_F(events, can_be_made_signalled) {
  const handle manual = manual_event(true);
  const handle automatic = automatic_event(true);
  EXPECT_TRUE(take(manual));
  EXPECT_TRUE(take(manual));
  EXPECT_TRUE(take(automatic));
  EXPECT_FALSE(take(automatic));
}

TEST_F(events, are_made_by_every_form_of_the_function) {
  const handle wide{CreateEventW(nullptr, TRUE, TRUE, nullptr)};
  EXPECT_TRUE(take(wide));
  EXPECT_TRUE(take(wide));
  const handle extended{CreateEventExA(nullptr, nullptr, CREATE_EVENT_INITIAL_SET, EVENT_ALL_ACCESS)};
  EXPECT_TRUE(take(extended));
  EXPECT_FALSE(take(extended));
  const handle both{CreateEventExW(nullptr, nullptr, CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET,
                                   EVENT_MODIFY_STATE | SYNCHRONIZE)};
  EXPECT_TRUE(take(both));
  EXPECT_TRUE(take(both));
  const handle neutral{CreateEvent(nullptr, FALSE, FALSE, nullptr)};
  EXPECT_FALSE(take(neutral));
}

// Contract 37
TEST_F(events, with_manual_reset_release_every_waiting_thread) {
  const handle event = manual_event();
  waiters threads{5, event};
  ASSERT_TRUE(threads.asleep());
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(threads.returned(5));
  EXPECT_EQ(threads.results(), std::vector<DWORD>(5, WAIT_OBJECT_0));
}

TEST_F(events, release_the_threads_that_wait_although_they_are_reset_at_once) {
  const handle event = manual_event();
  waiters threads{5, event};
  ASSERT_TRUE(threads.asleep());
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(ResetEvent(event));
  EXPECT_TRUE(threads.returned(5));
  EXPECT_EQ(threads.results(), std::vector<DWORD>(5, WAIT_OBJECT_0));
  EXPECT_FALSE(take(event));
}

// Contract 37
TEST_F(events, with_automatic_reset_release_one_waiting_thread_with_each_set) {
  const handle event = automatic_event();
  waiters threads{3, event};
  ASSERT_TRUE(threads.asleep());
  for (unsigned released = 1; released <= 3; ++released) {
    EXPECT_EQ(threads.returned_so_far(), released - 1);
    EXPECT_TRUE(SetEvent(event));
    EXPECT_TRUE(threads.returned(released));
  }
  EXPECT_FALSE(take(event));
}

// Contract 37
TEST_F(events, with_automatic_reset_lose_no_set_while_threads_wait) {
  const handle event = automatic_event();
  waiters threads{8, event};
  ASSERT_TRUE(threads.asleep());
  for (int i = 0; i != 8; ++i) {
    EXPECT_TRUE(SetEvent(event));  // nobody needs to have run in between
  }
  EXPECT_TRUE(threads.returned(8));
  EXPECT_EQ(threads.results(), std::vector<DWORD>(8, WAIT_OBJECT_0));
  EXPECT_FALSE(take(event));
}

TEST_F(events, serve_waiting_threads_in_the_order_in_which_they_came) {
  const handle event = automatic_event();
  waiters first{1, event};
  ASSERT_TRUE(first.asleep());
  waiters second{1, event};
  ASSERT_TRUE(second.asleep());
  waiters third{1, event};
  ASSERT_TRUE(third.asleep());
  for (waiters* next : {&first, &second, &third}) {
    EXPECT_EQ(next->returned_so_far(), 0u);
    EXPECT_TRUE(SetEvent(event));
    EXPECT_TRUE(next->returned(1));
  }
}

TEST_F(events, pass_a_turn_back_and_forth) {
  const handle here = automatic_event(true);
  const handle there = automatic_event();
  int turns = 0;  // whoever has the turn changes it
  together(2, [&](unsigned i) {
    for (int round = 0; round != 1000; ++round) {
      ASSERT_EQ(WaitForSingleObject(i == 0 ? here : there, patience_in_milliseconds), WAIT_OBJECT_0);
      ++turns;
      ASSERT_TRUE(SetEvent(i == 0 ? there : here));
    }
  });
  EXPECT_EQ(turns, 2000);
}

TEST_F(events, with_automatic_reset_let_one_thread_at_a_time_pass) {
  const handle event = automatic_event(true);
  int passes = 0;  // guarded by the event
  together(4, [&](unsigned) {
    for (int round = 0; round != 500; ++round) {
      ASSERT_EQ(WaitForSingleObject(event, patience_in_milliseconds), WAIT_OBJECT_0);
      ++passes;
      ASSERT_TRUE(SetEvent(event));
    }
  });
  EXPECT_EQ(passes, 2000);
}

class semaphores : public contract_test {};

TEST_F(semaphores, let_as_many_waits_pass_as_their_count_says) {
  const handle count = semaphore(2, 5);
  EXPECT_TRUE(take(count));
  EXPECT_TRUE(take(count));
  EXPECT_FALSE(take(count));
}

TEST_F(semaphores, tell_the_count_from_before_a_release) {
  const handle count = semaphore(1, 5);
  LONG previous = -1;
  EXPECT_TRUE(ReleaseSemaphore(count, 3, &previous));
  EXPECT_EQ(previous, 1);
  EXPECT_TRUE(ReleaseSemaphore(count, 1, &previous));
  EXPECT_EQ(previous, 4);
}

TEST_F(semaphores, do_not_change_when_a_release_exceeds_the_maximum) {
  const handle count = semaphore(1, 2);
  LONG previous = -1;
  EXPECT_FAILS_WITH(ERROR_TOO_MANY_POSTS, ReleaseSemaphore(count, 2, &previous));
  EXPECT_FAILS_WITH(ERROR_TOO_MANY_POSTS, ReleaseSemaphore(count, std::numeric_limits<LONG>::max(), &previous));
  EXPECT_EQ(previous, -1);
  EXPECT_TRUE(take(count));
  EXPECT_FALSE(take(count));
}

TEST_F(semaphores, refuse_to_release_nothing_or_less) {
  SKIP_UNDER_WINE("a release of zero succeeds, one of less than zero is too many posts");
  const handle count = semaphore(0, 2);
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, ReleaseSemaphore(count, 0, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, ReleaseSemaphore(count, -1, nullptr));
}

TEST_F(semaphores, refuse_counts_that_make_no_sense) {
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateSemaphoreA(nullptr, 0, 0, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateSemaphoreA(nullptr, 2, 1, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateSemaphoreW(nullptr, -1, 1, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateSemaphoreW(nullptr, 0, -1, nullptr));
}

TEST_F(semaphores, release_as_many_waiting_threads_as_are_posted) {
  const handle count = semaphore(0, 10);
  waiters threads{5, count};
  ASSERT_TRUE(threads.asleep());
  LONG previous = -1;
  EXPECT_TRUE(ReleaseSemaphore(count, 3, &previous));
  EXPECT_EQ(previous, 0);
  EXPECT_TRUE(threads.returned(3));
  EXPECT_FALSE(take(count));
  EXPECT_EQ(threads.returned_so_far(), 3u);
  EXPECT_TRUE(ReleaseSemaphore(count, 3, &previous));
  EXPECT_EQ(previous, 0);
  EXPECT_TRUE(threads.returned(5));
  EXPECT_TRUE(take(count));
  EXPECT_FALSE(take(count));
}

TEST_F(semaphores, let_no_more_threads_in_than_they_count) {
  const handle count = semaphore(2, 2);
  crowd inside;
  together(4, [&](unsigned) {
    for (int round = 0; round != 300; ++round) {
      ASSERT_EQ(WaitForSingleObject(count, patience_in_milliseconds), WAIT_OBJECT_0);
      inside.enter();
      inside.leave();
      ASSERT_TRUE(ReleaseSemaphore(count, 1, nullptr));
    }
  });
  EXPECT_LE(inside.peak(), 2u);
  EXPECT_TRUE(take(count));
  EXPECT_TRUE(take(count));
  EXPECT_FALSE(take(count));
}

class waits : public contract_test {};

TEST_F(waits, end_when_their_time_is_over) {
  const handle event = manual_event();
  EXPECT_EQ(WaitForSingleObject(event, 0), timed_out);
  EXPECT_EQ(WaitForSingleObject(event, 1), timed_out);
  EXPECT_EQ(WaitForSingleObjectEx(event, 1, TRUE), timed_out);
}

TEST_F(waits, that_timed_out_take_nothing_that_is_signalled_later) {
  const handle event = automatic_event();
  EXPECT_EQ(WaitForSingleObject(event, 1), timed_out);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(take(event));
}

TEST_F(waits, that_race_with_their_time_out_take_a_signal_or_leave_it) {
  const handle event = automatic_event();
  for (int round = 0; round != repetitions / 2; ++round) {
    DWORD result = WAIT_FAILED;
    together(2, [&](unsigned i) {
      if (i == 0) {
        result = WaitForSingleObject(event, 1);
      } else {
        Sleep(1);
        ASSERT_TRUE(SetEvent(event));
      }
    });
    ASSERT_TRUE(result == WAIT_OBJECT_0 || result == timed_out) << result;
    ASSERT_EQ(take(event), result == timed_out);
  }
}

#ifndef _WIN32
TEST_F(waits, and_objects_with_a_name_are_not_supported_here) {
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateEventA(nullptr, TRUE, FALSE, "name"));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateEventW(nullptr, TRUE, FALSE, u"name"));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateEventExA(nullptr, "name", 0, EVENT_ALL_ACCESS));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateEventExW(nullptr, u"name", 0, EVENT_ALL_ACCESS));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateSemaphoreA(nullptr, 0, 1, "name"));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateSemaphoreW(nullptr, 0, 1, u"name"));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateMutexA(nullptr, FALSE, "name"));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateMutexW(nullptr, FALSE, u"name"));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateMutexExA(nullptr, "name", 0, MUTEX_ALL_ACCESS));
  EXPECT_FAILS_WITH(ERROR_NOT_SUPPORTED, CreateMutexExW(nullptr, u"name", 0, MUTEX_ALL_ACCESS));
}
#endif

TEST_F(waits, and_objects_refuse_flags_that_do_not_exist) {
  SKIP_UNDER_WINE("unknown creation flags are ignored");
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateEventExA(nullptr, nullptr, 4, EVENT_ALL_ACCESS));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateMutexExA(nullptr, nullptr, 2, MUTEX_ALL_ACCESS));
}

class current_thread : public contract_test {};

TEST_F(current_thread, has_a_number_of_its_own) {
  const DWORD here = GetCurrentThreadId();
  DWORD there = here;
  DWORD again = 0;
  std::thread{[&] {
    there = GetCurrentThreadId();
    again = GetCurrentThreadId();
  }}.join();
  EXPECT_NE(here, 0u);
  EXPECT_NE(here, there);
  EXPECT_EQ(there, again);
  EXPECT_EQ(GetCurrentThreadId(), here);
}

TEST_F(current_thread, can_let_others_run) {
  std::atomic<bool> stop{false};
  std::thread other{[&] {
    while (!stop.load()) {
      SwitchToThread();
    }
  }};
  Sleep(0);
  SwitchToThread();
  stop.store(true);
  other.join();
}

}  // namespace
}  // namespace contract
