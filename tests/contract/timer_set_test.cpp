// Setting a timer, setting it anew, setting it to null: from outside, from its callback, from several threads.
#include <atomic>
#include <deque>

#include "contract/sources.hpp"

namespace {

using namespace contract;

class timer_set : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};

// Contract 12
TEST_F(timer_set, it_is_set_from_setting_until_it_is_set_to_null_also_after_it_fired) {
  gate fired;
  timer object{[&] { fired.open(); }, where_};
  EXPECT_FALSE(object.is_set()) << "new";
  object.set_after(far_away);
  EXPECT_TRUE(object.is_set()) << "armed";
  object.unset();
  EXPECT_FALSE(object.is_set()) << "set to null";
  object.set_now();
  EXPECT_TRUE(object.is_set()) << "due";
  EXPECT_TRUE(fired.pass());
  object.wait_for_callbacks();
  EXPECT_TRUE(object.is_set()) << "fired";
  object.unset();
  EXPECT_FALSE(object.is_set()) << "fired and set to null";
}

// Contract 12
TEST_F(timer_set, it_stays_set_after_a_due_time_that_had_to_come) {
  for (const bool absolute : {false, true}) {
    gate fired;
    timer object{[&] { fired.open(); }, where_};
    if (absolute) {
      object.set_at(system_time() + 1ms);
    } else {
      object.set_after(1ms);
    }
    EXPECT_TRUE(fired.pass());
    object.wait_for_callbacks();
    EXPECT_TRUE(object.is_set());
    object.unset();
    EXPECT_FALSE(object.is_set());
  }
}

// Contract 12
TEST_F(timer_set, it_is_set_while_its_tick_is_queued_runs_and_was_dropped) {
  gate started;
  gate may_return;
  timer object{[&] {
                 started.open();
                 EXPECT_TRUE(may_return.pass());
               },
               where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now();
  let_due_times_pass();
  EXPECT_TRUE(object.is_set()) << "queued";
  object.cancel();
  EXPECT_TRUE(object.is_set()) << "dropped";
  object.set_now();
  busy.release();
  ASSERT_TRUE(started.pass());
  EXPECT_TRUE(object.is_set()) << "running";
  object.unset();
  EXPECT_FALSE(object.is_set()) << "running and set to null";
  may_return.open();
}

// Contract 12
TEST_F(timer_set, its_callback_sees_it_set_and_can_set_it_to_null) {
  std::atomic<bool> before{false};
  std::atomic<bool> after{true};
  gate fired;
  timer* self = nullptr;
  timer object{[&] {
                 before = self->is_set();
                 self->unset();
                 after = self->is_set();
                 fired.open();
               },
               where_};
  self = &object;
  object.set_now();
  EXPECT_TRUE(fired.pass());
  EXPECT_TRUE(before);
  EXPECT_FALSE(after);
}

// Contract 12
TEST_F(timer_set, setting_one_that_was_never_set_to_null_is_harmless) {
  gate fired;
  timer object{[&] { fired.open(); }};
  object.unset();
  object.unset();
  EXPECT_FALSE(object.is_set());
  object.set_now();
  EXPECT_TRUE(fired.pass());
}

// Contract 12
TEST_F(timer_set, the_period_and_the_window_of_a_setting_to_null_mean_nothing) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  occupier busy{where_, 1};  // should the timer come due too early, it is queued and dropped
  ASSERT_TRUE(busy.held());
  object.set_after(5ms);
  SetThreadpoolTimer(object.get(), nullptr, 1, 1);
  EXPECT_FALSE(object.is_set());
  busy.release();
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 0u);
}

// Contract 13
TEST_F(timer_set, one_that_is_set_to_null_before_it_is_due_does_not_fire) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  timer absolute{[&] { fired.add(); }, where_};
  occupier busy{where_, 1};  // should a timer come due too early, it is queued and dropped
  ASSERT_TRUE(busy.held());
  object.set_after(10ms);
  object.unset();
  absolute.set_at(system_time() + 10ms);
  absolute.unset();
  busy.release();
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 0u);
  object.set_now();
  EXPECT_TRUE(fired.reaches(1));
}

// Contract 13
TEST_F(timer_set, setting_it_to_null_discards_a_tick_that_is_queued) {
  SKIP_UNDER_WINE("a queued tick survives the setting to null");
  std::atomic<int> fired{0};
  timer object{[&] { ++fired; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now();
  let_due_times_pass();
  object.unset();
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired, 0);
}

// Contract 13
TEST_F(timer_set, a_queued_tick_is_gone_after_setting_to_null_and_a_drop) {
  std::atomic<int> fired{0};
  timer object{[&] { ++fired; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now();
  let_due_times_pass();
  object.unset();
  object.cancel();
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired, 0);
}

// Contract 13
TEST_F(timer_set, a_discarded_tick_is_not_waited_for) {
  SKIP_UNDER_WINE("a queued tick survives the setting to null");
  timer object{[] {}, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now();
  let_due_times_pass();
  gate about_to_wait;
  gate waited;
  std::thread waiter{[&] {
    about_to_wait.open();
    object.wait_for_callbacks();
    waited.open();
  }};
  EXPECT_TRUE(about_to_wait.pass());
  std::this_thread::yield();
  object.unset();
  EXPECT_TRUE(waited.pass());
  waiter.join();
  object.wait_for_callbacks();
  busy.release();
}

// Contract 13
TEST_F(timer_set, setting_it_to_null_leaves_a_callback_that_runs_alone) {
  gate started;
  gate unset;
  std::atomic<bool> finished{false};
  timer object{[&] {
                 started.open();
                 EXPECT_TRUE(unset.pass());
                 finished = true;
               },
               where_};
  object.set_now();
  ASSERT_TRUE(started.pass());
  object.unset();
  unset.open();
  object.wait_for_callbacks();
  EXPECT_TRUE(finished);
}

// Contract 12
TEST_F(timer_set, setting_it_anew_replaces_the_earlier_due_time_by_a_later_one) {
  std::atomic<int> fired{0};
  timer object{[&] { ++fired; }, where_};
  object.set_after(10ms);
  object.set_after(far_away);
  timer absolute{[&] { ++fired; }, where_};
  absolute.set_at(system_time() + 10ms);
  absolute.set(filetime(farthest_absolute));
  timer mixed{[&] { ++fired; }, where_};
  mixed.set_at(system_time() + 10ms);
  mixed.set_after(far_away);
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired, 0);
}

// Contract 12
TEST_F(timer_set, setting_it_anew_replaces_the_earlier_due_time_by_an_earlier_one) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  object.set_after(far_away);
  object.set_after(1ms);
  EXPECT_TRUE(fired.reaches(1));
  object.set(filetime(farthest_absolute));
  object.set_at(system_time() + 1ms);
  EXPECT_TRUE(fired.reaches(2));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 2u);
}

// Contract 12
TEST_F(timer_set, each_of_many_settings_replaces_the_one_before) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  for (int i = 0; i != 200; ++i) {
    object.set_after(far_away - std::chrono::minutes{i % 50});
    object.set_at(system_time() + far_away + std::chrono::seconds{i});
  }
  object.set_after(1ms);
  EXPECT_TRUE(fired.reaches(1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 1u);
}

// Contract 13, 16. SetThreadpoolTimerEx says that the queued tick was cancelled.
TEST_F(timer_set, setting_it_anew_discards_a_tick_that_is_queued) {
  SKIP_UNDER_WINE("a queued tick survives the next setting");
  std::atomic<int> fired{0};
  timer object{[&] { ++fired; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set_now();
  let_due_times_pass();
  object.set_after(far_away);
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired, 0);
}

// Contract 14
TEST_F(timer_set, setting_a_periodic_one_anew_without_a_period_makes_it_fire_once) {
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  object.set_now(1);
  EXPECT_TRUE(ticked.reaches(3));
  object.set_after(far_away);
  object.wait_for_callbacks();
  const unsigned before = ticked.count();
  object.set_now();
  EXPECT_TRUE(ticked.reaches(before + 1));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(ticked.count(), before + 1);
}

// Contract 11
TEST_F(timer_set, a_callback_can_set_its_own_timer_again_and_again) {
  tally fired;
  timer* self = nullptr;
  timer object{[&] {
                 if (fired.count() < 49) {
                   if (fired.count() % 2 == 0) {
                     self->set_now();
                   } else {
                     self->set_after(ticks{100});
                   }
                 }
                 fired.add();
               },
               where_};
  self = &object;
  object.set_now();
  EXPECT_TRUE(fired.reaches(50));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 50u);
}

// Contract 11. The gap is from the setting, not from the last firing.
TEST_F(timer_set, a_due_time_that_the_callback_sets_is_not_early_either) {
  tally fired;
  timer* self = nullptr;
  std::chrono::nanoseconds earliest{0};
  timer object{[&] {
                 EXPECT_GE(monotonic_time() + clock_step, earliest);
                 if (fired.count() < 5) {
                   earliest = monotonic_time() + 2ms;
                   self->set_after(2ms);
                 }
                 fired.add();
               },
               where_};
  self = &object;
  object.set_now();
  EXPECT_TRUE(fired.reaches(6));
}

// Contract 14. The same holds for a periodic timer's ticks.
TEST_F(timer_set, a_timer_set_by_its_callback_can_fire_before_that_callback_has_returned) {
  const pool two{2};
  environment where{two};
  gate again;
  std::atomic<int> calls{0};
  timer* self = nullptr;
  timer object{[&] {
                 if (calls++ == 0) {
                   self->set_now();
                   EXPECT_TRUE(again.pass());
                 } else {
                   again.open();
                 }
               },
               where};
  self = &object;
  object.set_now();
  EXPECT_TRUE(again.pass());
}

// Contract 12
TEST_F(timer_set, of_what_several_threads_set_at_once_nothing_is_left_but_the_last) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  for (unsigned round = 0; round != 10; ++round) {
    together(4, [&](unsigned i) {
      for (unsigned j = 0; j != 20; ++j) {
        switch ((i + j) % 3) {
          case 0: object.set_after(far_away + std::chrono::seconds{j}); break;
          case 1: object.set(filetime(farthest_absolute), 1); break;
          default: object.unset(); break;
        }
      }
    });
    EXPECT_EQ(fired.count(), round) << "none of those due times has come";
    if (round % 2 == 0) {
      object.unset();
      EXPECT_FALSE(object.is_set());
    }
    object.set_after(1ms);
    EXPECT_TRUE(object.is_set());
    EXPECT_TRUE(fired.reaches(round + 1));
  }
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired.count(), 10u);
}

// Contract 1, 15
TEST_F(timer_set, threads_that_set_it_meet_its_ticks_and_each_other) {
  const pool two{2};
  environment where{two};
  std::atomic<unsigned> settings{0};
  tally fired;
  timer object{[&] { fired.add(); }, where};
  together(3, [&](unsigned i) {
    for (unsigned j = 0; j != 100; ++j) {
      switch ((i + j) % 4) {
        case 0: object.unset(); break;
        case 1: object.set_after(ticks{j}); break;
        default: object.set_now(); break;
      }
      ++settings;
      if (j % 10 == 0) {
        std::this_thread::yield();
      }
    }
  });
  object.set_now();
  EXPECT_TRUE(eventually([&] { return fired.count() != 0; }));
  object.unset();
  object.wait_for_callbacks();
  const unsigned before = fired.count();
  EXPECT_LE(before, settings + 1);
  occupier both{where, 2};
  EXPECT_TRUE(both.held());
  EXPECT_EQ(fired.count(), before);
  both.release();
  object.set_now();
  EXPECT_TRUE(fired.reaches(before + 1));
}

// Contract 11, 12
TEST_F(timer_set, setting_to_null_meets_the_due_time_without_losing_the_next_setting) {
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  for (int round = 0; round != 100; ++round) {
    object.set_after(ticks{round * 20});
    for (int i = 0; i != round % 7; ++i) {
      std::this_thread::yield();
    }
    object.unset();
    object.cancel();
    const unsigned before = fired.count();
    ASSERT_LE(before, static_cast<unsigned>(2 * round + 1));
    object.set_now();
    ASSERT_TRUE(fired.reaches(before + 1));
    object.wait_for_callbacks();
    ASSERT_EQ(fired.count(), before + 1);
  }
}

}  // namespace
