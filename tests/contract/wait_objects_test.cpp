// What a wait does to the object it waits for: events of both kinds, semaphores, several waits and threads on one.
#include <array>
#include <atomic>
#include <deque>

#include "contract/sources.hpp"

namespace {

using namespace contract;
using contract::wait;

class wait_objects : public contract_test {
 protected:
  /// As many waits that count their activations in `called_`. To be gone before what they are set on.
  std::deque<wait> waits(int number) {
    std::deque<wait> made;
    for (int i = 0; i != number; ++i) {
      made.emplace_back([this] { called_.add(); }, where_);
    }
    return made;
  }

  /// Returns when whatever has been satisfied by now has called back.
  void let_everything_happen() {
    let_signals_arrive();
    drain_pool_of_one(where_);
  }

  const pool one_{1};
  environment where_{one_};
  tally called_;
};

// Contract 20, 37
TEST_F(wait_objects, an_automatic_event_is_reset_by_the_activation) {
  const handle event = automatic_event();
  wait object{[&] {
                EXPECT_FALSE(take(event)) << "it is still set in the callback";
                called_.add();
              },
              where_};
  object.set(event);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(called_.reaches(1));
  object.wait_for_callbacks();
  EXPECT_FALSE(take(event));
  EXPECT_TRUE(SetEvent(event));
  object.set(event);
  EXPECT_TRUE(called_.reaches(2));
  object.wait_for_callbacks();
  EXPECT_FALSE(take(event));
}

// Contract 20
TEST_F(wait_objects, the_signal_is_consumed_when_the_wait_is_satisfied_and_not_when_the_callback_runs) {
  const handle event = automatic_event();
  wait object{[this] { called_.add(); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set(event);
  EXPECT_TRUE(SetEvent(event));
  let_signals_arrive();
  EXPECT_FALSE(take(event));
  EXPECT_TRUE(SetEvent(event));
  busy.release();
  EXPECT_TRUE(called_.reaches(1));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 1u);
  EXPECT_TRUE(take(event)) << "one arming has consumed two signals";
}

// Contract 20, 37
TEST_F(wait_objects, a_manual_event_stays_set) {
  const handle event = manual_event();
  wait object{[this] { called_.add(); }, where_};
  for (unsigned i = 1; i != 4; ++i) {
    object.set(event);
    EXPECT_TRUE(SetEvent(event));
    EXPECT_TRUE(called_.reaches(i));
    object.wait_for_callbacks();
    EXPECT_TRUE(take(event));
  }
  EXPECT_TRUE(ResetEvent(event));
  object.set(event);
  let_everything_happen();
  EXPECT_EQ(called_.count(), 3u);
}

// Contract 20, 37
TEST_F(wait_objects, an_event_that_is_reset_before_it_is_waited_for_satisfies_nothing) {
  const handle event = automatic_event(true);
  EXPECT_TRUE(ResetEvent(event));
  wait object{[this] { called_.add(); }, where_};
  object.set(event);
  let_everything_happen();
  EXPECT_EQ(called_.count(), 0u);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(called_.reaches(1));
}

// Contract 17, 37
TEST_F(wait_objects, a_manual_event_with_many_waits_satisfies_all_of_them_once) {
  const handle event = manual_event();
  std::deque<wait> all = waits(150);
  for (wait& each : all) {
    each.set(event);
  }
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(called_.reaches(150));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 150u);
  for (wait& each : all) {
    each.set(event);
  }
  EXPECT_TRUE(called_.reaches(300));
}

// Contract 17
TEST_F(wait_objects, many_waits_on_as_many_events_are_satisfied_each_by_its_own) {
  constexpr std::size_t number = 150;
  std::vector<handle> events;
  std::array<std::atomic<int>, number> calls{};
  for (std::size_t i = 0; i != number; ++i) {
    events.push_back(automatic_event());
  }
  std::deque<wait> all;
  for (std::size_t i = 0; i != number; ++i) {
    all.emplace_back(
        [&, i] {
          ++calls[i];
          called_.add();
        },
        where_);
    all.back().set(events[i]);
  }
  for (std::size_t i = number; i-- != 0;) {
    if (i % 3 != 0) {
      EXPECT_TRUE(SetEvent(events[i]));
    }
  }
  EXPECT_TRUE(called_.reaches(number / 3 * 2));
  let_everything_happen();
  for (std::size_t i = 0; i != number; ++i) {
    EXPECT_EQ(calls[i], i % 3 != 0 ? 1 : 0) << i;
  }
}

// Contract 20
TEST_F(wait_objects, of_several_waits_on_an_automatic_event_each_signal_satisfies_exactly_one) {
  const handle event = automatic_event();
  std::deque<wait> all = waits(8);
  for (wait& each : all) {
    each.set(event);
  }
  for (unsigned i = 1; i != 9; ++i) {
    EXPECT_TRUE(SetEvent(event));
    ASSERT_TRUE(called_.reaches(i));
    let_everything_happen();
    ASSERT_EQ(called_.count(), i);
    ASSERT_FALSE(take(event));
  }
  EXPECT_TRUE(SetEvent(event));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 8u);
  EXPECT_TRUE(take(event)) << "nobody is left";
}

// Contract 20
TEST_F(wait_objects, an_automatic_event_that_is_set_already_satisfies_the_first_wait_alone) {
  const handle event = automatic_event(true);
  std::deque<wait> all = waits(4);
  for (wait& each : all) {
    each.set(event);
  }
  EXPECT_TRUE(called_.reaches(1));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 1u);
}

// Contract 20
TEST_F(wait_objects, a_semaphore_is_counted_down_once_for_each_activation) {
  const handle counted = semaphore(3, 10);
  std::deque<wait> all = waits(5);
  for (wait& each : all) {
    each.set(counted);
  }
  EXPECT_TRUE(called_.reaches(3));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 3u);
  EXPECT_FALSE(take(counted));
  LONG before = -1;
  EXPECT_TRUE(ReleaseSemaphore(counted, 4, &before));
  EXPECT_EQ(before, 0);
  EXPECT_TRUE(called_.reaches(5));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 5u);
  EXPECT_TRUE(ReleaseSemaphore(counted, 1, &before));
  EXPECT_EQ(before, 2) << "what no wait has taken is left";
}

// Contract 17, 20
TEST_F(wait_objects, one_wait_takes_one_count_of_a_semaphore_for_each_setting) {
  const handle counted = semaphore(5, 5);
  wait object{[this] { called_.add(); }, where_};
  for (unsigned i = 1; i != 4; ++i) {
    object.set(counted);
    EXPECT_TRUE(called_.reaches(i));
  }
  let_everything_happen();
  EXPECT_EQ(called_.count(), 3u);
  EXPECT_TRUE(take(counted));
  EXPECT_TRUE(take(counted));
  EXPECT_FALSE(take(counted));
}

// Contract 20
TEST_F(wait_objects, a_release_of_many_counts_satisfies_as_many_waits) {
  const handle counted = semaphore(0, 100);
  std::deque<wait> all = waits(40);
  for (wait& each : all) {
    each.set(counted);
  }
  EXPECT_TRUE(ReleaseSemaphore(counted, 30, nullptr));
  EXPECT_TRUE(called_.reaches(30));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 30u);
  EXPECT_FALSE(take(counted));
}

// Contract 20, 35
TEST_F(wait_objects, a_semaphore_that_is_released_when_a_callback_returns_satisfies_waits) {
  const handle counted = semaphore(0, 10);
  std::deque<wait> all = waits(3);
  for (wait& each : all) {
    each.set(counted);
  }
  work releasing{[&](PTP_CALLBACK_INSTANCE instance) { ReleaseSemaphoreWhenCallbackReturns(instance, counted, 2); },
                 where_};
  releasing.submit();
  EXPECT_TRUE(called_.reaches(2));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 2u);
}

// Contract 38
TEST_F(wait_objects, a_wait_on_a_duplicate_is_satisfied_by_the_signal_of_the_original) {
  const handle event = automatic_event();
  const handle second = duplicate(event);
  wait object{[this] { called_.add(); }, where_};
  object.set(second);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(called_.reaches(1));
  object.wait_for_callbacks();
  EXPECT_FALSE(take(second));
}

// ---- waits and waiting threads on one object -------------------------------------------------------

// Contract 20
TEST_F(wait_objects, each_signal_releases_either_a_thread_or_a_wait) {
  const handle event = automatic_event();
  std::deque<wait> all = waits(4);
  for (wait& each : all) {
    each.set(event);
  }
  waiters threads{4, event};
  ASSERT_TRUE(threads.asleep());
  for (unsigned i = 1; i != 9; ++i) {
    EXPECT_TRUE(SetEvent(event));
    ASSERT_TRUE(eventually([&] { return called_.count() + threads.returned_so_far() >= i; }));
    let_everything_happen();
    ASSERT_EQ(called_.count() + threads.returned_so_far(), i);
    ASSERT_FALSE(take(event));
  }
  EXPECT_EQ(called_.count(), 4u);
  EXPECT_EQ(threads.returned_so_far(), 4u);
}

// Contract 37
TEST_F(wait_objects, a_manual_event_releases_all_threads_and_waits) {
  const handle event = manual_event();
  std::deque<wait> all = waits(4);
  for (wait& each : all) {
    each.set(event);
  }
  waiters threads{4, event};
  ASSERT_TRUE(threads.asleep());
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(threads.returned(4));
  EXPECT_TRUE(called_.reaches(4));
  let_everything_happen();
  EXPECT_EQ(called_.count(), 4u);
}

// Contract 20
TEST_F(wait_objects, a_thread_that_waits_for_several_objects_leaves_those_it_does_not_get_to_the_waits) {
  const handle first = automatic_event();
  const handle second = automatic_event();
  std::deque<wait> all = waits(1);
  for (wait& each : all) {
    each.set(second);
  }
  const std::array<HANDLE, 2> both{first, second};
  EXPECT_TRUE(SetEvent(second));
  EXPECT_TRUE(called_.reaches(1));
  EXPECT_EQ(WaitForMultipleObjects(2, both.data(), TRUE, 0), DWORD{WAIT_TIMEOUT});
  EXPECT_TRUE(SetEvent(first));
  EXPECT_EQ(WaitForMultipleObjects(2, both.data(), FALSE, 0), DWORD{WAIT_OBJECT_0});
}

// Contract 20
TEST_F(wait_objects, threads_that_poll_and_waits_that_are_set_again_share_the_counts_of_a_semaphore) {
  constexpr LONG counts = 300;
  const handle counted = semaphore(0, counts);
  std::atomic<LONG> by_waits{0};
  std::atomic<LONG> by_threads{0};
  const pool two{2};
  environment where{two};
  std::deque<wait> all;
  for (std::size_t i = 0; i != 3; ++i) {
    all.emplace_back(
        [&, i] {
          all[i].set(counted);
          ++by_waits;
        },
        where);
  }
  for (wait& each : all) {
    each.set(counted);
  }
  together(3, [&](unsigned i) {
    for (LONG j = 0; j != counts / 3; ++j) {
      if (i == 0) {
        EXPECT_TRUE(ReleaseSemaphore(counted, 3, nullptr));
      }
      if (take(counted)) {
        ++by_threads;
      }
    }
  });
  EXPECT_TRUE(eventually([&] { return by_waits + by_threads >= counts; }));
  for (wait& each : all) {
    each.unset();
    each.wait_for_callbacks();
  }
  EXPECT_EQ(by_waits + by_threads, counts);
  EXPECT_FALSE(take(counted));
}

// Contract 20
TEST_F(wait_objects, signals_from_several_threads_are_each_called_back_once) {
  // Each thread signals its own events, waited for on one pool.
  constexpr std::size_t number = 60;
  for (int round = 0; round != 5; ++round) {
    const unsigned before = called_.count();
    std::vector<handle> events;
    for (std::size_t i = 0; i != number; ++i) {
      events.push_back(automatic_event());
    }
    std::deque<wait> all;
    for (std::size_t i = 0; i != number; ++i) {
      all.emplace_back([this] { called_.add(); }, where_);
      all.back().set(events[i]);
    }
    together(3, [&](unsigned i) {
      for (std::size_t j = i; j < number; j += 3) {
        EXPECT_TRUE(SetEvent(events[j]));
      }
    });
    ASSERT_TRUE(called_.reaches(before + number));
    for (wait& each : all) {
      each.wait_for_callbacks();
    }
    ASSERT_EQ(called_.count(), before + number);
  }
}

}  // namespace
