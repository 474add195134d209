// Periodic timers: ticks, their overlap, drains.
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <string>

#include "allocations.hpp"
#include "timers.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using tidepool::periodic_tick;

class periodic_timers : public safe_test {};

// ---- construction --------------------------------------------------------------------------------------

TEST_F(periodic_timers, accept_callables_with_and_without_the_tick) {
  tally ticks[4];
  periodic_timer objects[] = {
      periodic_timer(1ms, [&] { ticks[0].add(); }),
      periodic_timer(1ms, [&](periodic_tick&) { ticks[1].add(); }),
      periodic_timer(1ms, [&, owned = std::make_unique<int>(2)] { ticks[*owned].add(); }),
      periodic_timer(1ms, [&](auto&&... arguments) { ticks[2 + sizeof...(arguments)].add(); }),
  };
  for (periodic_timer& each : objects) {
    each.start();
  }
  for (tally& each : ticks) {
    EXPECT_TRUE(each.reaches(2));
  }
}

TEST_F(periodic_timers, refuse_periods_that_the_system_can_not_keep) {
  const auto make = [](auto period) { return periodic_timer(period, [] {}); };
  EXPECT_SYSTEM_ERROR(make(0ms), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(make(-5ms), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(make(999us), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(make(std::chrono::milliseconds(0x1'0000'0000)), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(make(std::chrono::hours::max()), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(make(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())),
                      std::errc::invalid_argument);
  EXPECT_EQ(make(1ms).period(), 1ms);
  EXPECT_EQ(make(std::chrono::milliseconds(0xFFFF'FFFF)).period(), std::chrono::milliseconds(0xFFFF'FFFF));
  EXPECT_EQ(make(1'000'001ns).period(), 2ms);
  EXPECT_EQ(make(std::chrono::duration<double>(0.25)).period(), 250ms);
}

TEST_F(periodic_timers, that_refuse_a_period_have_not_taken_the_callable) {
  std::atomic<int> alive = 0;
  EXPECT_SYSTEM_ERROR(periodic_timer(0ms, [state = counted(alive)] {}), std::errc::invalid_argument);
  EXPECT_EQ(alive, 0);
}

TEST_F(periodic_timers, refuse_null_pointers_to_functions) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(periodic_timer(1ms, null), std::errc::invalid_argument);
}

// ---- ticks ---------------------------------------------------------------------------------------------

TEST_F(periodic_timers, tick_again_and_again_and_never_early) {
  constexpr int wanted = 10;
  const private_pool pool(1);  // so that the ticks do not meet
  std::array<steady_clock::time_point, wanted> when;
  tally ticks;
  periodic_timer object(
      10ms,
      [&] {
        if (ticks.count() < wanted) {
          when[ticks.count()] = steady_clock::now();
        }
        ticks.add();
      },
      pool.environment);
  const steady_clock::time_point begin = steady_clock::now();
  object.start();
  ASSERT_TRUE(ticks.reaches(wanted));
  object.stop_and_drain();
  for (int i = 0; i != wanted; ++i) {
    EXPECT_GE(when[static_cast<std::size_t>(i)] - begin, (i + 1) * 10ms) << i;
  }
}

TEST_F(periodic_timers, start_when_they_are_told_to) {
  tally ticks;
  periodic_timer object(1h, [&] { ticks.add(); });
  object.start();
  let_due_times_come();
  EXPECT_EQ(ticks.count(), 0u);
  object.start_after(1h);
  object.start_at(system_clock::now() + 1h);
  let_due_times_come();
  EXPECT_EQ(ticks.count(), 0u);

  unsigned expected = 0;
  const auto expect_first_tick_only = [&](auto start) {
    start();
    EXPECT_TRUE(ticks.reaches(++expected));
    let_due_times_come();
    EXPECT_EQ(ticks.count(), expected);
    object.stop_and_drain();
  };
  expect_first_tick_only([&] { object.start_after(1ms); });
  expect_first_tick_only([&] { object.start_after(0s); });
  expect_first_tick_only([&] { object.start_after(-1h); });
  expect_first_tick_only([&] { object.start_at(system_clock::now() + 5ms); });
  expect_first_tick_only([&] { object.start_at(system_clock::time_point()); });
  expect_first_tick_only([&] { object.start_at(std::chrono::sys_days(std::chrono::year(1500) / 1 / 1)); });
}

TEST_F(periodic_timers, go_on_after_an_early_first_tick) {
  tally ticks;
  periodic_timer object(2ms, [&] { ticks.add(); });
  object.start_after(0s);
  EXPECT_TRUE(ticks.reaches(5));
  object.stop_and_drain();
  object.start_at(system_clock::now());
  EXPECT_TRUE(ticks.reaches(ticks.count() + 5));
}

TEST_F(periodic_timers, with_a_window_tick_and_never_early) {
  for (const auto window : {0ms, 5ms, -1ms}) {
    tally ticks;
    steady_clock::time_point first;
    periodic_timer object(5ms, [&] {
      if (ticks.count() == 0) {
        first = steady_clock::now();
      }
      ticks.add();
    });
    const steady_clock::time_point begin = steady_clock::now();
    object.start_with_window(window);
    ASSERT_TRUE(ticks.reaches(3));
    object.stop_and_drain();
    EXPECT_GE(first - begin, 5ms);
  }
}

TEST_F(periodic_timers, may_overlap_themselves) {
  tally inside;
  gate release;
  periodic_timer object(2ms, [&] {
    inside.add();
    EXPECT_TRUE(release.pass());
  });
  object.start();
  EXPECT_TRUE(inside.reaches(3));
  object.stop();
  release.open();
}

TEST_F(periodic_timers, run_until_they_are_stopped) {
  tally ticks;
  periodic_timer object(2ms, [&] { ticks.add(); });
  EXPECT_FALSE(object.is_running());
  object.start();
  EXPECT_TRUE(object.is_running());
  EXPECT_TRUE(ticks.reaches(2));
  EXPECT_TRUE(object.is_running());
  object.stop();
  EXPECT_FALSE(object.is_running());
  object.wait_for_callbacks();
  const unsigned after = ticks.count();
  let_due_times_come();
  EXPECT_EQ(ticks.count(), after);
  object.start();  // the control
  EXPECT_TRUE(ticks.reaches(after + 2));
  object.stop_and_drain();
  EXPECT_FALSE(object.is_running());
}

TEST_F(periodic_timers, can_be_stopped_by_a_tick) {
  const private_pool pool(1);
  tally ticks;
  periodic_timer object(
      2ms,
      [&](periodic_tick& tick) {
        ticks.add();
        if (ticks.count() == 3) {
          tick.stop();
        }
      },
      pool.environment);
  object.start();
  EXPECT_TRUE(ticks.reaches(3));
  object.wait_for_callbacks();
  EXPECT_FALSE(object.is_running());
  const unsigned after = ticks.count();  // Wine: a tick that was queued still came
  let_due_times_come();
  EXPECT_EQ(ticks.count(), after);
  if (!contract::under_wine()) {
    EXPECT_EQ(after, 3u);
  }
  object.start();
  EXPECT_TRUE(ticks.reaches(after + 1));
}

TEST_F(periodic_timers, take_nothing_from_the_heap_when_they_are_started_and_one_block_when_they_are_made) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  constexpr std::size_t large = 10'000;
  const private_pool pool(2, 2);  // its threads are there, so that none has to be made
  const allocation_count made(allocation_count::of::this_thread);
  periodic_timer object(1h, [state = std::array<char, large>()] { static_cast<void>(state); }, pool.environment);
  EXPECT_LE(made.count(), 2u);  // one of them is the system's own
  EXPECT_GT(made.largest(), large);
  EXPECT_LT(made.largest(), large + 384);
  object.start();
  let_due_times_come();
  const allocation_count here(allocation_count::of::this_thread);
  for (int i = 0; i != 1000; ++i) {
    object.start();
    object.start_after(1h);
    object.start_at(system_clock::now() + 1h);
    object.start_with_window(1s);
    object.stop();
  }
  EXPECT_EQ(here.count(), 0u);
}

// ---- drains --------------------------------------------------------------------------------------------

TEST_F(periodic_timers, are_quiet_after_a_drain_and_can_be_started_again) {
  tally ticks;
  periodic_timer object(1ms, [&] { ticks.add(); });
  for (int round = 0; round != 10; ++round) {
    object.start();
    EXPECT_TRUE(ticks.reaches(ticks.count() + 2));
    object.stop_and_drain();
    const unsigned after = ticks.count();
    let_another_pool_work();
    EXPECT_EQ(ticks.count(), after);
  }
}

template <class End>
void expect_a_queued_tick_to_run_before(End end) {
  const private_pool pool(1);
  tally ticks;
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  std::optional<periodic_timer> object(std::in_place, 1h, [&] { ticks.add(); }, pool.environment);
  object->start_after(0s);
  let_due_times_come();
  tally ended;
  const std::jthread ender = begin([&] {
    end(object);
    EXPECT_EQ(ticks.count(), 1u);
    ended.add();
  });
  EXPECT_EQ(ticks.count(), 0u);
  EXPECT_EQ(ended.count(), 0u);
  only_thread.release();
  EXPECT_TRUE(ended.reaches(1));
  EXPECT_EQ(ticks.count(), 1u);
}

TEST_F(periodic_timers, let_a_queued_tick_run_when_they_are_stopped_and_drained) {
  expect_a_queued_tick_to_run_before([](std::optional<periodic_timer>& object) { object->stop_and_drain(); });
}

TEST_F(periodic_timers, let_a_queued_tick_run_when_they_are_destroyed) {
  expect_a_queued_tick_to_run_before([](std::optional<periodic_timer>& object) { object.reset(); });
}

TEST_F(periodic_timers, let_a_queued_tick_run_when_they_are_assigned) {
  expect_a_queued_tick_to_run_before(
      [](std::optional<periodic_timer>& object) { *object = periodic_timer(1h, [] {}); });
}

TEST_F(periodic_timers, whose_ticks_take_longer_than_the_period_can_still_be_drained) {
  // Each tick takes until the next has begun: at every moment one of them is running or queued.
  tally begun;
  gate over;
  periodic_timer object(1ms, [&] {
    begun.add();
    const unsigned mine = begun.count();
    EXPECT_TRUE(eventually([&] { return begun.count() > mine || over.is_open(); }));
  });
  object.start();
  ASSERT_TRUE(begun.reaches(3));
  std::atomic<bool> drained = false;
  std::jthread drainer([&] {
    object.stop_and_drain();
    drained = true;
  });
  // The drain brings the ticks to an end; the last one has no successor to wait for, and needs a hand.
  EXPECT_TRUE(eventually([&] {
    const unsigned before = begun.count();
    let_due_times_come();
    return drained || begun.count() == before;
  }));
  over.open();
  EXPECT_TRUE(eventually([&] { return drained.load(); }));
  EXPECT_FALSE(object.is_running());
}

TEST_F(periodic_timers, drop_a_queued_tick_when_it_is_cancelled_and_go_on) {
  const private_pool pool(1);
  tally ticks;
  periodic_timer object(1h, [&] { ticks.add(); }, pool.environment);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  object.start_after(0s);
  let_due_times_come();
  object.cancel_pending();
  EXPECT_TRUE(object.is_running());
  only_thread.release();
  let_pool_of_one_finish(pool);
  EXPECT_EQ(ticks.count(), 0u);
}

/// Wine does not wake a thread that waits for what another one drops.
void cancel_pending_of(periodic_timer& object) {
  if (contract::under_wine()) {
    object.stop();
  } else {
    object.cancel_pending();
  }
}

TEST_F(periodic_timers, can_be_started_stopped_and_drained_by_many_threads_and_are_quiet_afterwards) {
  std::atomic<int> calls = 0;
  periodic_timer object(1ms, [&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 200; ++n) {
          object.start_after(std::chrono::microseconds(n % 3 * 10));
          switch ((n + i) % 3) {
            case 0: object.stop(); break;
            case 1: cancel_pending_of(object); break;
            default: object.stop_and_drain();
          }
        }
      });
    }
  }
  object.stop_and_drain();
  const int after = calls;
  let_due_times_come();
  EXPECT_EQ(calls, after);
  EXPECT_FALSE(object.is_running());
  object.start();
  EXPECT_TRUE(eventually([&] { return calls > after; }));
}

// ---- teardown and moving -------------------------------------------------------------------------------

TEST_F(periodic_timers, that_are_running_can_be_destroyed_at_any_moment) {
  std::atomic<int> alive = 0;
  std::atomic<int> calls = 0;
  for (int i = 0; i != 200; ++i) {
    periodic_timer object(1ms, [&, state = counted(alive)] {
      EXPECT_GE(*state.alive, 1);
      ++calls;
    });
    object.start_after(0s);
    if (i % 4 == 0) {
      EXPECT_TRUE(eventually([&, before = calls.load()] { return calls > before; }));
    }
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(periodic_timers, keep_ticking_when_they_are_moved) {
  tally ticks;
  std::optional<periodic_timer> original(std::in_place, 1ms, [&] { ticks.add(); });
  original->start();
  periodic_timer moved(std::move(*original));
  original.reset();
  EXPECT_TRUE(ticks.reaches(ticks.count() + 2));
  EXPECT_TRUE(moved.is_running());
  EXPECT_EQ(moved.period(), 1ms);
  periodic_timer other(1h, [] {});
  other = std::move(moved);
  EXPECT_TRUE(ticks.reaches(ticks.count() + 2));
  EXPECT_EQ(other.period(), 1ms);
}

// ---- from inside ---------------------------------------------------------------------------------------

template <class Drain>
void expect_refusal_inside_own_callback(const char* name, Drain drain) {
  tally ran;
  std::string message;
  std::optional<periodic_timer> object;
  object.emplace(1h, [&] {
    try {
      drain(*object);
      ADD_FAILURE() << name << " does not throw";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
      message = error.what();
    }
    ran.add();
  });
  object->start_after(0s);
  EXPECT_TRUE(ran.reaches(1));
  object->stop_and_drain();
  EXPECT_NE(message.find(name), std::string::npos) << message;
}

TEST_F(periodic_timers, refuse_to_be_drained_by_their_own_callbacks) {
  expect_refusal_inside_own_callback("periodic_timer::wait_for_callbacks",
                                     [](periodic_timer& object) { object.wait_for_callbacks(); });
  expect_refusal_inside_own_callback("periodic_timer::cancel_pending",
                                     [](periodic_timer& object) { object.cancel_pending(); });
  expect_refusal_inside_own_callback("periodic_timer::stop_and_drain",
                                     [](periodic_timer& object) { object.stop_and_drain(); });
}

TEST_F(periodic_timers, may_be_destroyed_by_a_tick_that_is_disassociated_and_can_then_still_stop_nothing) {
  for (int i = 0; i != 20; ++i) {
    const private_pool pool(1);
    std::atomic<int> alive = 0;
    const tidepool::event over(tidepool::reset_mode::manual);
    std::unique_ptr<periodic_timer> object;
    object = std::make_unique<periodic_timer>(
        1h,
        [&, state = counted(alive)](periodic_tick& tick) {
          tick.instance().set_event_when_returns(over);
          tick.instance().disassociate();
          tick.stop();
          EXPECT_FALSE(object->is_running());
          object.reset();
          tick.stop();
          EXPECT_EQ(*state.alive, 1);
        },
        pool.environment);
    object->start_after(0s);
    ASSERT_TRUE(over.wait_for(patience));
    EXPECT_EQ(alive, 0);
  }
}

}  // namespace
}  // namespace safe
