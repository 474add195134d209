// When a timer fires: due times near and far, relative and absolute, never early, in order.
#include <array>
#include <atomic>
#include <deque>

#include "contract/sources.hpp"

namespace {

using namespace contract;

/// No whole milliseconds, and longer than a step of the clock.
std::vector<ticks> odd_delays() {
  std::vector<ticks> delays;
  for (int i = 1; i != 50; ++i) {
    delays.push_back(clock_step + ticks{i * 7'001});
  }
  return delays;
}

class timer_object : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};

// Contract 11
TEST_F(timer_object, one_that_was_never_set_does_not_fire_until_it_is_set) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 0u);
  object.set_now();
  EXPECT_TRUE(fired.reaches(1));
}

// Contract 11, 14
TEST_F(timer_object, it_fires_once_after_a_relative_due_time) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  object.set_after(5ms);
  EXPECT_TRUE(fired.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 1u);
}

// Contract 11, 14
TEST_F(timer_object, it_fires_once_after_an_absolute_due_time) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  object.set_at(system_time() + 5ms);
  EXPECT_TRUE(fired.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 1u);
}

// Contract 11
TEST_F(timer_object, a_due_time_of_zero_fires_once_at_once) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  object.set_now();
  EXPECT_TRUE(fired.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 1u);
}

// Contract 11
TEST_F(timer_object, a_due_time_in_the_past_fires_once_at_once) {
  // The second tick after 1601, and just now.
  for (const ticks past : {ticks{1}, system_time() - 1ms}) {
    tally fired;
    timer object{[&] { fired.add(); }, where_};
    object.set_at(past);
    EXPECT_TRUE(fired.reaches(1));
    let_due_times_pass();
    drain_pool_of_one(where_);
    EXPECT_EQ(fired.count(), 1u);
  }
}

// Contract 11
TEST_F(timer_object, the_smallest_relative_due_time_is_one_tick) {
  tally fired;
  timer object{[&] { fired.add(); }};
  for (unsigned i = 1; i != 20; ++i) {
    object.set_after(ticks{1});
    EXPECT_TRUE(fired.reaches(i));
  }
}

// Contract 11
TEST_F(timer_object, it_never_fires_before_a_relative_due_time) {
  tally fired;
  std::deque<timer> all;
  for (const ticks each : odd_delays()) {
    all.emplace_back([&, each, set_at = monotonic_time()] {
      EXPECT_GE(monotonic_time() - set_at + clock_step, each);
      fired.add();
    });
    all.back().set_after(each);
  }
  EXPECT_TRUE(fired.reaches(static_cast<unsigned>(all.size())));
}

// Contract 11
TEST_F(timer_object, it_never_fires_before_an_absolute_due_time) {
  tally fired;
  std::deque<timer> all;
  for (const ticks each : odd_delays()) {
    const ticks due = system_time() + each;
    all.emplace_back([&, due] {
      EXPECT_GE(system_time() + clock_step, due);
      fired.add();
    });
    all.back().set_at(due);
  }
  EXPECT_TRUE(fired.reaches(static_cast<unsigned>(all.size())));
}

// Contract 11
TEST_F(timer_object, one_that_fires_and_is_set_again_and_again_is_never_early) {
  tally fired;
  std::atomic<std::int64_t> earliest{0};
  timer object{[&] {
    EXPECT_GE(monotonic_time() + clock_step, std::chrono::nanoseconds{earliest});
    fired.add();
  }};
  for (unsigned i = 1; i != 15; ++i) {
    const ticks delay{i * 1'111};
    earliest = std::chrono::nanoseconds{monotonic_time() + delay}.count();
    object.set_after(delay);
    ASSERT_TRUE(fired.reaches(i));
  }
}

// Contract 11
TEST_F(timer_object, the_farthest_due_times_do_not_come) {
  std::atomic<int> fired{0};
  std::deque<timer> all;
  for (const std::int64_t due : {farthest_absolute, farthest_absolute - 1, farthest_relative, farthest_relative + 1}) {
    all.emplace_back([&] { ++fired; }, where_);
    all.back().set(filetime(due));
    EXPECT_TRUE(all.back().is_set());
  }
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired, 0);
}

// Contract 11
TEST_F(timer_object, a_near_due_time_does_not_wait_for_a_far_one_that_was_set_first) {
  timer distant{[] {}, where_};
  distant.set_after(far_away);
  timer farthest{[] {}, where_};
  farthest.set(filetime(farthest_absolute));
  let_due_times_pass();  // whoever keeps the time has gone to sleep until the far ones
  for (const bool absolute : {false, true}) {
    gate fired;
    timer soon{[&] { fired.open(); }, where_};
    if (absolute) {
      soon.set_at(system_time() + 2ms);
    } else {
      soon.set_after(2ms);
    }
    EXPECT_TRUE(fired.pass());
  }
}

// Contract 11. However the system clock stands to the monotonic one, each kind keeps to its own.
TEST_F(timer_object, timers_fire_in_the_order_of_their_due_times_and_not_of_their_setting) {
  for (const bool absolute : {false, true}) {
    bool conclusive = false;
    for (int attempt = 0; attempt != 20 && !conclusive; ++attempt) {
      journal order;
      timer late{[&] { order.note('c'); }, where_};
      timer early{[&] { order.note('a'); }, where_};
      timer middle{[&] { order.note('b'); }, where_};
      gate all_due;
      timer last{[&] { all_due.open(); }, where_};
      const auto start = monotonic_time();
      const ticks now = system_time();
      const auto set = [&](timer& which, ticks delay) {
        if (absolute) {
          which.set_at(now + delay);
        } else {
          which.set_after(delay);
        }
      };
      set(last, 50ms);
      set(late, 40ms);
      set(early, 20ms);
      set(middle, 30ms);
      // Set too late to tell when the first was due by then, or nearly.
      conclusive = monotonic_time() - start < 8ms;
      EXPECT_TRUE(all_due.pass());
      if (conclusive) {
        EXPECT_EQ(order.text(), "abc") << (absolute ? "absolute" : "relative");
      }
    }
    EXPECT_TRUE(conclusive);
  }
}

// Contract 11
TEST_F(timer_object, due_times_that_pass_while_the_pool_is_held_fire_in_their_order) {
  journal order;
  timer second{[&] { order.note('b'); }, where_};
  timer first{[&] { order.note('a'); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  first.set_after(1ms);
  let_due_times_pass();
  second.set_after(1ms);
  let_due_times_pass();
  busy.release();
  first.wait_for_callbacks();
  second.wait_for_callbacks();
  EXPECT_EQ(order.text(), "ab");
}

// Contract 11
TEST_F(timer_object, many_timers_of_one_due_time_all_fire) {
  tally fired;
  std::deque<timer> all;
  const ticks due = system_time() + 10ms;
  for (int i = 0; i != 200; ++i) {
    all.emplace_back([&] { fired.add(); }, where_);
    all.back().set_at(due);
  }
  EXPECT_TRUE(fired.reaches(200));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 200u);
}

// Contract 11
TEST_F(timer_object, many_timers_of_scattered_due_times_all_fire_once) {
  constexpr int number = 500;
  std::array<std::atomic<int>, number> fired{};
  tally altogether;
  std::deque<timer> all;
  for (int i = 0; i != number; ++i) {
    all.emplace_back(
        [&, i] {
          ++fired[static_cast<std::size_t>(i)];
          altogether.add();
        },
        where_);
    all.back().set_after(ticks{1 + (i * 7'919) % 200'000});
  }
  EXPECT_TRUE(altogether.reaches(number));
  let_due_times_pass();
  drain_pool_of_one(where_);
  for (const std::atomic<int>& each : fired) {
    EXPECT_EQ(each, 1);
  }
}

// Contract 2
TEST_F(timer_object, a_callback_gets_an_instance_the_context_and_the_timer) {
  struct seen {
    std::atomic<PTP_CALLBACK_INSTANCE> instance{nullptr};
    std::atomic<PTP_TIMER> object{nullptr};
    gate called;
  } its;
  const PTP_TIMER object = CreateThreadpoolTimer(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_TIMER self) {
        auto& mine = *static_cast<seen*>(context);
        mine.instance = instance;
        mine.object = self;
        mine.called.open();
      },
      &its, nullptr);
  ASSERT_NE(object, nullptr);
  FILETIME due = filetime(0);
  SetThreadpoolTimer(object, &due, 0, 0);
  EXPECT_TRUE(its.called.pass());
  EXPECT_NE(its.instance, nullptr);
  EXPECT_EQ(its.object, object);
  WaitForThreadpoolTimerCallbacks(object, FALSE);
  CloseThreadpoolTimer(object);
}

// Contract 11
TEST_F(timer_object, the_due_time_is_copied_when_it_is_set) {
  gate fired;
  timer object{[&] { fired.open(); }, where_};
  FILETIME due = relative(10ms);
  SetThreadpoolTimer(object.get(), &due, 0, 0);
  due = filetime(farthest_absolute);
  EXPECT_TRUE(fired.pass());
}

}  // namespace
