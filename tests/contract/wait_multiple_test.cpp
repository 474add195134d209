// Waiting for any of several objects, and for all of them at once.
#include <array>
#include <vector>

#include "contract/objects.hpp"

namespace contract {
namespace {

constexpr DWORD timed_out = WAIT_TIMEOUT;

template <std::size_t Count>
DWORD wait_any(const std::array<HANDLE, Count>& objects, DWORD milliseconds = patience_in_milliseconds) {
  return WaitForMultipleObjects(static_cast<DWORD>(Count), objects.data(), FALSE, milliseconds);
}

template <std::size_t Count>
DWORD wait_all(const std::array<HANDLE, Count>& objects, DWORD milliseconds = patience_in_milliseconds) {
  return WaitForMultipleObjects(static_cast<DWORD>(Count), objects.data(), TRUE, milliseconds);
}

class wait_for_any : public contract_test {};

TEST_F(wait_for_any, names_the_object_that_is_signalled_and_takes_no_other) {
  const handle one = automatic_event();
  const handle two = automatic_event(true);
  const handle three = automatic_event(true);
  const std::array<HANDLE, 3> objects{one, two, three};
  EXPECT_EQ(wait_any(objects), WAIT_OBJECT_0 + 1);
  EXPECT_FALSE(take(two));
  EXPECT_TRUE(take(three));
  EXPECT_EQ(wait_any(objects, 0), timed_out);
}

TEST_F(wait_for_any, takes_objects_of_different_kinds) {
  const handle event = manual_event();
  const handle count = semaphore(1, 1);
  const handle lock = mutex();
  const std::array<HANDLE, 3> objects{event, count, lock};
  EXPECT_EQ(wait_any(objects), WAIT_OBJECT_0 + 1);
  EXPECT_EQ(wait_any(objects), WAIT_OBJECT_0 + 2);
  EXPECT_EQ(wait_any(objects), WAIT_OBJECT_0 + 2);
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_FAILS_WITH(ERROR_NOT_OWNER, ReleaseMutex(lock));
  EXPECT_TRUE(SetEvent(event));
  EXPECT_EQ(wait_any(objects), WAIT_OBJECT_0);
}

TEST_F(wait_for_any, leaves_nothing_behind_when_it_times_out) {
  const handle one = automatic_event();
  const handle two = automatic_event();
  EXPECT_EQ(wait_any(std::array<HANDLE, 2>{one, two}, 1), timed_out);
  EXPECT_TRUE(SetEvent(one));
  EXPECT_TRUE(SetEvent(two));
  EXPECT_TRUE(take(one));
  EXPECT_TRUE(take(two));
}

TEST_F(wait_for_any, names_the_mutex_that_was_abandoned) {
  const handle event = automatic_event();
  const handle lock = mutex();
  std::thread{[&] { EXPECT_TRUE(take(lock)); }}.join();
  EXPECT_EQ(wait_any(std::array<HANDLE, 2>{event, lock}), static_cast<DWORD>(WAIT_ABANDONED_0) + 1);
  EXPECT_TRUE(ReleaseMutex(lock));
}

TEST_F(wait_for_any, is_released_by_each_of_its_objects) {
  const std::array<handle, 3> events{automatic_event(), automatic_event(), automatic_event()};
  const std::array<HANDLE, 3> objects{events[0], events[1], events[2]};
  for (unsigned which = 0; which != 3; ++which) {
    DWORD result = WAIT_FAILED;
    together(2, [&](unsigned i) {
      if (i == 0) {
        result = wait_any(objects);
      } else {
        EXPECT_TRUE(SetEvent(objects[which]));
      }
    });
    EXPECT_EQ(result, WAIT_OBJECT_0 + which);
    EXPECT_EQ(wait_any(objects, 0), timed_out);
  }
}

TEST_F(wait_for_any, takes_one_signal_although_all_objects_are_signalled_while_it_waits) {
  const std::array<handle, 4> events{automatic_event(), automatic_event(), automatic_event(), automatic_event()};
  const std::array<HANDLE, 4> objects{events[0], events[1], events[2], events[3]};
  for (int round = 0; round != repetitions / 2; ++round) {
    DWORD result = WAIT_FAILED;
    together(5, [&](unsigned i) {
      if (i == 4) {
        result = wait_any(objects);
      } else {
        ASSERT_TRUE(SetEvent(objects[i]));
      }
    });
    ASSERT_LT(result, 4u);
    unsigned left = 0;
    for (const HANDLE event : objects) {
      left += take(event) ? 1 : 0;
    }
    ASSERT_EQ(left, 3u);
  }
}

TEST_F(wait_for_any, loses_no_post_of_two_semaphores) {
  const handle one = semaphore(0, 10'000);
  const handle two = semaphore(0, 10'000);
  const std::array<HANDLE, 2> objects{one, two};
  std::array<std::atomic<int>, 2> taken{};
  together(4, [&](unsigned i) {
    for (int round = 0; round != 500; ++round) {
      if (i < 2) {
        ASSERT_TRUE(ReleaseSemaphore(objects[i], 1, nullptr));
      } else {
        const DWORD which = wait_any(objects);
        ASSERT_LT(which, 2u);
        taken[which].fetch_add(1);
      }
    }
  });
  EXPECT_EQ(taken[0].load(), 500);
  EXPECT_EQ(taken[1].load(), 500);
  EXPECT_EQ(wait_any(objects, 0), timed_out);
}

class wait_for_all : public contract_test {};

TEST_F(wait_for_all, takes_all_objects_when_all_are_signalled) {
  const handle event = automatic_event(true);
  const handle count = semaphore(2, 2);
  const handle lock = mutex();
  const std::array<HANDLE, 3> objects{event, count, lock};
  EXPECT_EQ(wait_all(objects), WAIT_OBJECT_0);
  EXPECT_FALSE(take(event));
  EXPECT_TRUE(take(count));
  EXPECT_FALSE(take(count));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_FAILS_WITH(ERROR_NOT_OWNER, ReleaseMutex(lock));
}

TEST_F(wait_for_all, takes_nothing_until_all_are_signalled) {
  const handle one = automatic_event(true);
  const handle two = automatic_event();
  const handle lock = mutex();
  const std::array<HANDLE, 3> objects{one, lock, two};
  EXPECT_EQ(wait_all(objects, 0), timed_out);
  EXPECT_EQ(wait_all(objects, 1), timed_out);
  EXPECT_FAILS_WITH(ERROR_NOT_OWNER, ReleaseMutex(lock));
  EXPECT_TRUE(take(one));
}

TEST_F(wait_for_all, lets_others_have_what_it_can_not_use_yet) {
  const handle one = automatic_event(true);
  const handle two = automatic_event();
  const std::array<HANDLE, 2> objects{one, two};
  gate begun;
  DWORD result = WAIT_FAILED;
  std::thread thread{[&] {
    begun.open();
    result = wait_all(objects);
  }};
  EXPECT_TRUE(begun.pass());
  EXPECT_TRUE(take(one));
  EXPECT_TRUE(SetEvent(two));
  EXPECT_TRUE(SetEvent(one));
  thread.join();
  EXPECT_EQ(result, WAIT_OBJECT_0);
  EXPECT_FALSE(take(one));
  EXPECT_FALSE(take(two));
}

TEST_F(wait_for_all, tells_that_a_mutex_was_abandoned) {
  const handle event = automatic_event(true);
  const handle lock = mutex();
  std::thread{[&] { EXPECT_TRUE(take(lock)); }}.join();
  const DWORD result = wait_all(std::array<HANDLE, 2>{event, lock});
  EXPECT_GE(result, static_cast<DWORD>(WAIT_ABANDONED_0));
  EXPECT_LE(result, static_cast<DWORD>(WAIT_ABANDONED_0) + 1);
  EXPECT_TRUE(ReleaseMutex(lock));
}

TEST_F(wait_for_all, counts_a_mutex_that_the_thread_owns_as_signalled) {
  const handle lock = mutex(true);
  const handle event = automatic_event();
  std::thread other{[&] { EXPECT_TRUE(SetEvent(event)); }};
  EXPECT_EQ(wait_all(std::array<HANDLE, 2>{lock, event}), WAIT_OBJECT_0);
  other.join();
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
}

TEST_F(wait_for_all, lets_philosophers_eat) {
  constexpr unsigned seats = 5;
  std::vector<handle> forks;
  for (unsigned i = 0; i != seats; ++i) {
    forks.push_back(i % 2 == 0 ? automatic_event(true) : mutex());
  }
  std::array<std::atomic<int>, seats> used{};
  together(seats, [&](unsigned i) {
    const unsigned next = (i + 1) % seats;
    const std::array<HANDLE, 2> mine{forks[i], forks[next]};
    for (int meal = 0; meal != repetitions; ++meal) {
      ASSERT_EQ(wait_all(mine), WAIT_OBJECT_0);
      ASSERT_EQ(used[i].fetch_add(1), 0);
      ASSERT_EQ(used[next].fetch_add(1), 0);
      used[i].fetch_sub(1);
      used[next].fetch_sub(1);
      for (const unsigned fork : {i, next}) {
        ASSERT_TRUE(fork % 2 == 0 ? SetEvent(forks[fork]) : ReleaseMutex(forks[fork]));
      }
    }
  });
}

TEST_F(wait_for_all, does_not_disturb_those_who_wait_for_one) {
  const handle one = semaphore(0, 10'000);
  const handle two = semaphore(0, 10'000);
  const std::array<HANDLE, 2> objects{one, two};
  together(5, [&](unsigned i) {
    for (int round = 0; round != repetitions; ++round) {
      if (i < 2) {  // posts for the thread that takes this one alone, and for the one that takes both
        ASSERT_TRUE(ReleaseSemaphore(objects[i], 2, nullptr));
      } else if (i < 4) {
        ASSERT_EQ(WaitForSingleObject(objects[i - 2], patience_in_milliseconds), WAIT_OBJECT_0);
      } else {
        ASSERT_EQ(wait_all(objects), WAIT_OBJECT_0);
      }
    }
  });
  EXPECT_FALSE(take(one));
  EXPECT_FALSE(take(two));
}

#ifndef _WIN32
TEST_F(wait_for_all, is_satisfied_at_the_moment_when_all_are_signalled) {
  // On Windows too, but there a test can not know that a thread has begun to wait for several objects.
  const handle one = manual_event();
  const handle two = manual_event();
  const std::array<HANDLE, 2> objects{one, two};
  waiters threads{3, [&] { return wait_all(objects); }};
  ASSERT_TRUE(threads.asleep());
  EXPECT_TRUE(SetEvent(one));
  EXPECT_TRUE(ResetEvent(one));
  EXPECT_TRUE(SetEvent(two));
  EXPECT_EQ(threads.returned_so_far(), 0u);
  EXPECT_TRUE(SetEvent(one));
  EXPECT_TRUE(ResetEvent(one));
  EXPECT_TRUE(threads.returned(3));
  EXPECT_EQ(threads.results(), std::vector<DWORD>(3, WAIT_OBJECT_0));
}

TEST_F(wait_for_any, is_satisfied_by_an_event_that_is_reset_at_once) {
  const handle one = manual_event();
  const handle two = manual_event();
  const std::array<HANDLE, 2> objects{one, two};
  waiters threads{3, [&] { return wait_any(objects); }};
  ASSERT_TRUE(threads.asleep());
  EXPECT_TRUE(SetEvent(two));
  EXPECT_TRUE(ResetEvent(two));
  EXPECT_TRUE(threads.returned(3));
  EXPECT_EQ(threads.results(), std::vector<DWORD>(3, WAIT_OBJECT_0 + 1));
}
#endif

class wait_for_several : public contract_test {};

TEST_F(wait_for_several, takes_at_most_the_documented_number) {
  std::vector<handle> events;
  std::vector<HANDLE> objects;
  for (DWORD i = 0; i != MAXIMUM_WAIT_OBJECTS + 1; ++i) {
    events.push_back(manual_event(true));
    objects.push_back(events.back());
  }
  EXPECT_EQ(WaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS, objects.data(), TRUE, INFINITE), WAIT_OBJECT_0);
  EXPECT_EQ(WaitForMultipleObjectsEx(MAXIMUM_WAIT_OBJECTS, objects.data(), FALSE, INFINITE, TRUE), WAIT_OBJECT_0);
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_PARAMETER,
                         WaitForMultipleObjects(MAXIMUM_WAIT_OBJECTS + 1, objects.data(), FALSE, 0));
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_PARAMETER, WaitForMultipleObjects(0, objects.data(), FALSE, 0));
}

TEST_F(wait_for_several, refuses_a_handle_that_is_none) {
  const handle event = automatic_event(true);
  const std::array<HANDLE, 2> objects{event, nullptr};
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_HANDLE, wait_any(objects));
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_HANDLE, wait_all(objects));
  EXPECT_TRUE(take(event));
}

TEST_F(wait_for_several, can_not_have_one_object_twice_at_once) {
  SKIP_UNDER_WINE("the same object twice is allowed");
  const handle event = automatic_event(true);
  const handle again = duplicate(event);
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_PARAMETER, wait_all(std::array<HANDLE, 2>{event, event}, 0));
  EXPECT_WAIT_FAILS_WITH(ERROR_INVALID_PARAMETER, wait_all(std::array<HANDLE, 2>{event, again}, 0));
  EXPECT_TRUE(take(event));
}

}  // namespace
}  // namespace contract
