// Periodic timers.
#include <atomic>

#include "contract/sources.hpp"

namespace {

using namespace contract;

class timer_period : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};

// Contract 14
TEST_F(timer_period, it_fires_again_and_again) {
  tally ticked;
  timer object{[&] { ticked.add(); }};
  object.set_after(1ms, 1);
  EXPECT_TRUE(ticked.reaches(10));
  EXPECT_TRUE(object.is_set());
}

// Contract 14
TEST_F(timer_period, a_period_of_zero_fires_once) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  object.set_after(1ms, 0);
  EXPECT_TRUE(fired.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 1u);
}

// Contract 11, 14
TEST_F(timer_period, no_tick_is_early) {
  constexpr auto period = 3ms;
  for (const bool absolute : {false, true}) {
    tally ticked;
    ticks due{0};
    std::chrono::nanoseconds start{0};
    timer object{[&] {
                   const ticks since_first_due = ticked.count() * ticks{period};
                   if (absolute) {
                     EXPECT_GE(system_time() + clock_step, due + since_first_due) << ticked.count();
                   } else {
                     EXPECT_GE(monotonic_time() - start + clock_step, 5ms + since_first_due) << ticked.count();
                   }
                   ticked.add();
                 },
                 where_};
    start = monotonic_time();
    due = system_time() + 5ms;
    if (absolute) {
      object.set_at(due, period_of(period));
    } else {
      object.set_after(5ms, period_of(period));
    }
    EXPECT_TRUE(ticked.reaches(10));
  }
}

// Contract 11, 14
TEST_F(timer_period, with_a_due_time_of_zero_the_first_tick_comes_at_once_and_the_others_in_periods) {
  constexpr auto period = 20ms;
  tally ticked;
  std::chrono::nanoseconds start{0};
  timer object{[&] {
                 EXPECT_GE(monotonic_time() - start + clock_step, ticked.count() * period) << ticked.count();
                 ticked.add();
               },
               where_};
  start = monotonic_time();
  object.set_now(period_of(period));
  EXPECT_TRUE(ticked.reaches(3));
}

// Contract 14
TEST_F(timer_period, with_a_first_due_time_that_is_far_nothing_comes_before_it) {
  std::atomic<int> ticked{0};
  timer object{[&] { ++ticked; }, where_};
  object.set_after(far_away, 1);
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(ticked, 0);
}

// Contract 11, 14
TEST_F(timer_period, with_a_first_due_time_in_the_past_the_ticks_since_then_are_not_made_up_for) {
  constexpr auto period = 10min;
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  object.set_at(system_time() - 50 * period, period_of(period));
  EXPECT_TRUE(ticked.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_LE(ticked.count(), 2u);
}

// Contract 14
TEST_F(timer_period, ticks_overlap_when_the_pool_has_threads_for_them) {
  const pool three{3};
  environment where{three};
  crowd inside;
  gate all_there;
  timer object{[&] {
                 inside.enter();
                 if (inside.peak() == 3) {
                   all_there.open();
                 }
                 EXPECT_TRUE(all_there.pass());
                 inside.leave();
               },
               where};
  object.set_now(1);
  EXPECT_TRUE(all_there.pass());
}

// Contract 14
TEST_F(timer_period, on_a_pool_of_one_ticks_do_not_overlap) {
  crowd inside;
  tally ticked;
  timer object{[&] {
                 inside.enter();
                 let_due_times_pass(3ms);  // the next one is due
                 inside.leave();
                 ticked.add();
               },
               where_};
  object.set_now(1);
  EXPECT_TRUE(ticked.reaches(3));
  EXPECT_EQ(inside.peak(), 1u);
}

// Contract 14
TEST_F(timer_period, ticks_that_come_while_one_is_queued_are_not_made_up_for) {
  SKIP_UNDER_WINE("ticks that find the pool busy accumulate");
  constexpr auto period = 5ms;
  std::atomic<int> ticked{0};
  timer object{[&] { ++ticked; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now(period_of(period));
  let_due_times_pass(20 * period);
  EXPECT_EQ(ticked, 0);
  const auto released = monotonic_time();
  busy.release();
  drain_pool_of_one(where_);
  const int seen = ticked;
  // One that was queued, and those that have come due since.
  EXPECT_GE(seen, 1);
  EXPECT_LE(seen, 2 + (monotonic_time() - released) / period);
}

// Contract 14
TEST_F(timer_period, ticks_go_on_after_the_pool_was_held) {
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now(1);
  let_due_times_pass(10ms);
  busy.release();
  EXPECT_TRUE(ticked.reaches(5));
}

// Contract 14
TEST_F(timer_period, ticks_of_a_short_period_leave_room_for_other_work_of_a_pool_of_one) {
  tally ticked;
  timer object{[&] {
                 let_due_times_pass(2ms);
                 ticked.add();
               },
               where_};
  object.set_now(1);
  tally ran;
  work other{[&] { ran.add(); }, where_};
  for (unsigned i = 1; i != 4; ++i) {
    EXPECT_TRUE(ticked.reaches(i));
    other.submit();
    EXPECT_TRUE(ran.reaches(i));
  }
}

// Contract 14
TEST_F(timer_period, the_longest_period_does_not_come_to_its_end) {
  SKIP_UNDER_WINE("a period of more than 2^31 ms is negative");
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  for (unsigned i = 1; i != 3; ++i) {
    object.set_now(i == 1 ? 0xFFFFFFFFu : 0x80000000u);
    EXPECT_TRUE(ticked.reaches(i));
    let_due_times_pass();
    drain_pool_of_one(where_);
    EXPECT_EQ(ticked.count(), i);
  }
}

// Contract 14
TEST_F(timer_period, the_longest_period_that_is_no_negative_number_does_not_come_to_its_end) {
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  object.set_now(0x7FFFFFFFu);
  EXPECT_TRUE(ticked.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(ticked.count(), 1u);
}

// Contract 13, 15
TEST_F(timer_period, no_tick_comes_after_it_was_set_to_null_and_waited_for) {
  for (int round = 0; round != 20; ++round) {
    tally ticked;
    std::atomic<bool> over{false};
    std::atomic<int> late{0};
    const pool two{2};
    environment where{two};
    timer object{[&] {
                   ticked.add();
                   late += over ? 1 : 0;
                 },
                 where};
    object.set_now(1);
    EXPECT_TRUE(ticked.reaches(1 + static_cast<unsigned>(round) % 3));
    object.unset();
    if (round % 2 == 0) {
      object.wait_for_callbacks();
    } else {
      object.cancel();
    }
    over = true;
    let_due_times_pass(3ms);
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
    ASSERT_EQ(late, 0);
  }
}

// Contract 13
TEST_F(timer_period, a_tick_can_stop_its_own_timer) {
  SKIP_UNDER_WINE("a tick that was queued meanwhile survives the setting to null");
  tally ticked;
  timer* self = nullptr;
  timer object{[&] {
                 ticked.add();
                 if (ticked.count() == 3) {
                   self->unset();
                 }
               },
               where_};
  self = &object;
  object.set_now(1);
  EXPECT_TRUE(ticked.reaches(3));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(ticked.count(), 3u);
}

// Contract 15
TEST_F(timer_period, waiting_between_two_ticks_does_not_wait_for_the_next) {
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  object.set_now(period_of(far_away));
  EXPECT_TRUE(ticked.reaches(1));
  object.wait_for_callbacks();
  object.cancel();
  EXPECT_EQ(ticked.count(), 1u);
}

// Contract 15
TEST_F(timer_period, a_drop_takes_the_queued_tick_and_not_those_to_come) {
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now(20);
  let_due_times_pass(10ms);
  object.cancel();
  busy.release();
  EXPECT_TRUE(ticked.reaches(2));
}

// Contract 14
TEST_F(timer_period, a_period_can_be_changed_and_given_to_one_that_had_none) {
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  object.set_after(far_away);
  object.set_now(1);
  EXPECT_TRUE(ticked.reaches(3));
  object.set_after(1ms, period_of(far_away));
  object.wait_for_callbacks();
  let_due_times_pass();
  drain_pool_of_one(where_);
  const unsigned before = ticked.count();
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(ticked.count(), before);
  object.set_now(1);
  EXPECT_TRUE(ticked.reaches(before + 3));
}

// ---- windows ---------------------------------------------------------------------------------------

class timer_window : public timer_period {};

// Contract 16
TEST_F(timer_window, a_timer_with_a_window_fires_and_is_not_early) {
  for (const DWORD window : {0u, 1u, 10u, 50u}) {
    tally fired;
    const auto start = monotonic_time();
    timer object{[&] {
                   EXPECT_GE(monotonic_time() - start + clock_step, 20ms);
                   fired.add();
                 },
                 where_};
    object.set_after(20ms, 0, window);
    EXPECT_TRUE(fired.reaches(1));
  }
}

// Contract 16
TEST_F(timer_window, a_large_window_is_not_early_and_may_be_set_to_null_or_replaced) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  object.set_after(far_away, 0, 0xFFFFFFFFu);
  EXPECT_TRUE(object.is_set());
  timer farthest{[&] { fired.add(); }, where_};
  farthest.set(filetime(farthest_absolute), 0, 0xFFFFFFFFu);
  timer farthest_of_all{[&] { fired.add(); }, where_};
  farthest_of_all.set(filetime(farthest_relative), 0, 0xFFFFFFFFu);
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 0u) << "due time and window together are more than there is";
  object.unset();
  EXPECT_FALSE(object.is_set());
  object.set_after(ticks{1}, 0, 0xFFFFFFFFu);
  object.set_after(1ms, 0, 0);
  EXPECT_TRUE(fired.reaches(1)) << "the window of an earlier setting has an effect";
}

// Contract 16
TEST_F(timer_window, a_window_does_not_delay_other_timers) {
  timer wide{[] {}, where_};
  wide.set_after(1ms, 0, 0xFFFFFFFFu);
  gate fired;
  timer narrow{[&] { fired.open(); }, where_};
  narrow.set_after(5ms);
  EXPECT_TRUE(fired.pass());
}

// Contract 14, 16
TEST_F(timer_window, a_periodic_timer_with_a_window_ticks_and_no_tick_is_early) {
  constexpr auto period = 4ms;
  tally ticked;
  const auto start = monotonic_time();
  timer object{[&] {
                 EXPECT_GE(monotonic_time() - start + clock_step, ticked.count() * period) << ticked.count();
                 ticked.add();
               },
               where_};
  object.set_after(ticks{1}, period_of(period), 10);
  EXPECT_TRUE(ticked.reaches(5));
}

}  // namespace
