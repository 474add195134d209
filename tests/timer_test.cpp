// One-shot timers: due times, firings, drains. Re-arming has a file of its own, and so have the numbers (due_time_test).
#include <array>
#include <chrono>
#include <functional>
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
using tidepool::timer_firing;

class timers : public safe_test {};

// ---- callables -----------------------------------------------------------------------------------------

std::atomic<int> free_function_calls = 0;
void free_function() { ++free_function_calls; }
void free_function_with_firing(timer_firing&) { ++free_function_calls; }

TEST_F(timers, accept_functions_closures_and_wrapped_ones_with_and_without_the_firing) {
  free_function_calls = 0;
  std::atomic<int> calls = 0;
  const std::function<void()> wrapped = [&] { ++calls; };
  timer objects[] = {
      timer(free_function),
      timer(&free_function_with_firing),
      timer([&] { ++calls; }),
      timer([&](timer_firing&) { ++calls; }),
      timer([&](const timer_firing&) noexcept { return ++calls; }),
      timer([&, number = std::make_unique<int>(1)] { calls += *number; }),
      timer(wrapped),
      timer(std::ref(wrapped)),
      timer([&](auto&&... arguments) { calls += sizeof...(arguments) == 1 ? 1 : 1000; }),
  };
  for (timer& each : objects) {
    each.set_after(0s);
  }
  EXPECT_TRUE(eventually([&] { return calls + free_function_calls >= 9; }));
  for (timer& each : objects) {
    each.stop_and_drain();
  }
  EXPECT_EQ(free_function_calls, 2);
  EXPECT_EQ(calls, 7);
}

TEST_F(timers, refuse_null_pointers_to_functions) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(timer{null}, std::errc::invalid_argument);
}

TEST_F(timers, that_the_system_refuses_throw_and_destroy_the_callable) {
  SKIP_UNDER_WINE("accepts environments of any version");
  std::atomic<int> alive = 0;
  tidepool::callback_environment environment;
  tidepool::unsafe::native_environment(environment)->Version = 99;
  EXPECT_SYSTEM_ERROR(timer([state = counted(alive)] {}, environment), std::errc::invalid_argument);
  EXPECT_EQ(alive, 0);
}

// ---- due times -----------------------------------------------------------------------------------------

template <class Duration>
void expect_not_early(Duration duration) {
  tally fired;
  steady_clock::time_point when;
  timer object([&] {
    when = steady_clock::now();
    fired.add();
  });
  const steady_clock::time_point begin = steady_clock::now();
  object.set_after(duration);
  ASSERT_TRUE(fired.reaches(1));
  EXPECT_GE(when - begin, duration);
  object.stop_and_drain();
  EXPECT_EQ(fired.count(), 1u);
}

TEST_F(timers, fire_once_and_never_early) {
  for (int i = 0; i != 3; ++i) {
    expect_not_early(1ns);
    expect_not_early(100us);
    expect_not_early(1ms);
    expect_not_early(1001us);
    expect_not_early(17'300us);
    expect_not_early(std::chrono::duration<double>(0.0123));
    expect_not_early(std::chrono::duration<float, std::milli>(2.5F));
  }
}

TEST_F(timers, fire_at_once_when_there_is_no_time_to_wait_for) {
  tally fired;
  unsigned expected = 0;
  timer object([&] { fired.add(); });
  const auto expect_at_once = [&](auto duration) {
    object.set_after(duration);
    EXPECT_TRUE(fired.reaches(++expected));
    object.stop_and_drain();
    EXPECT_EQ(fired.count(), expected);
  };
  expect_at_once(0ns);
  expect_at_once(-1ns);
  expect_at_once(-1h);
  expect_at_once(std::chrono::nanoseconds::min());
  expect_at_once(std::chrono::hours::min());
  expect_at_once(std::chrono::duration<double>(-std::numeric_limits<double>::infinity()));
  expect_at_once(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
}

TEST_F(timers, fire_at_once_when_the_time_has_passed_even_long_ago) {
  tally fired;
  unsigned expected = 0;
  timer object([&] { fired.add(); });
  const auto expect_at_once = [&](auto time) {
    object.set_at(time);
    EXPECT_TRUE(fired.reaches(++expected));
    object.stop_and_drain();
    EXPECT_EQ(fired.count(), expected);
  };
  expect_at_once(system_clock::now());
  expect_at_once(system_clock::now() - 1h);
  expect_at_once(system_clock::time_point());  // 1970
  expect_at_once(std::chrono::sys_days(std::chrono::year(1601) / 1 / 1));
  expect_at_once(std::chrono::sys_days(std::chrono::year(1600) / 12 / 31));
  expect_at_once(std::chrono::sys_time<std::chrono::hours>::min());
}

TEST_F(timers, follow_the_clock_when_set_to_a_time_and_are_never_early) {
  for (int i = 0; i != 5; ++i) {
    tally fired;
    system_clock::time_point when;
    timer object([&] {
      when = system_clock::now();
      fired.add();
    });
    const system_clock::time_point due = system_clock::now() + 20ms;
    object.set_at(due);
    ASSERT_TRUE(fired.reaches(1));
    EXPECT_GE(when, due);
  }
}

TEST_F(timers, wait_for_what_is_far_away) {
  tally fired;
  timer object([&] { fired.add(); });
  const auto expect_patience = [&](auto set) {
    set();
    let_due_times_come();
    EXPECT_EQ(fired.count(), 0u);
    EXPECT_TRUE(object.is_set());
    object.stop_and_drain();
  };
  expect_patience([&] { object.set_after(1h); });
  expect_patience([&] { object.set_after(std::chrono::years(100)); });
  expect_patience([&] { object.set_after(std::chrono::nanoseconds::max()); });
  expect_patience([&] { object.set_after(std::chrono::hours::max()); });
  expect_patience([&] { object.set_after(std::chrono::duration<double>::max()); });
  expect_patience([&] { object.set_at(system_clock::now() + 1h); });
  expect_patience([&] { object.set_at(system_clock::time_point::max()); });
  expect_patience([&] { object.set_at(std::chrono::sys_time<std::chrono::hours>::max()); });
  object.set_after(0s);  // the control
  EXPECT_TRUE(fired.reaches(1));
}

TEST_F(timers, with_a_window_fire_and_never_early) {
  const auto expect_firing = [](auto window) {
    tally fired;
    steady_clock::time_point when;
    timer object([&] {
      when = steady_clock::now();
      fired.add();
    });
    const steady_clock::time_point begin = steady_clock::now();
    object.set_after_with_window(5ms, window);
    ASSERT_TRUE(fired.reaches(1));
    EXPECT_GE(when - begin, 5ms);
  };
  expect_firing(0ms);
  expect_firing(10ms);
  expect_firing(-1h);
  expect_firing(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
  expect_firing(std::chrono::duration<double>(0.02));
}

TEST_F(timers, fire_when_they_were_last_told_to) {
  tally fired;
  timer object([&] { fired.add(); });
  object.set_after(1h);
  object.set_after(1ms);
  EXPECT_TRUE(fired.reaches(1));
  object.set_after(1ms);
  object.set_at(system_clock::now() + 1h);
  object.set_after(1h);
  object.stop_and_drain();
  const unsigned so_far = fired.count();  // the short one may have fired before it was replaced
  let_due_times_come();
  EXPECT_EQ(fired.count(), so_far);
  EXPECT_LE(so_far, 2u);
}

TEST_F(timers, can_be_set_again_and_again) {
  tally fired;
  timer object([&] { fired.add(); });
  for (unsigned i = 1; i <= 200; ++i) {
    object.set_after(0s);
    ASSERT_TRUE(fired.reaches(i));
  }
  object.stop_and_drain();
  EXPECT_EQ(fired.count(), 200u);
}

TEST_F(timers, that_are_disarmed_do_not_fire) {
  std::optional<tally> fired;
  std::optional<timer> object;
  const contract::ticks delay = contract::in_time([&](contract::ticks due) {
    object.reset();
    fired.emplace();
    object.emplace([&] { fired->add(); });
    object->set_after(due);
    object->disarm();
  });
  contract::let_due_times_pass(2 * delay);
  EXPECT_EQ(fired->count(), 0u);
  object->set_after(1ms);  // the control
  EXPECT_TRUE(fired->reaches(1));
}

TEST_F(timers, drop_a_queued_firing_when_they_are_disarmed) {
  SKIP_UNDER_WINE("a queued tick still runs after it has been set to null");
  const private_pool pool(1);
  tally fired;
  timer object([&] { fired.add(); }, pool.environment);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  object.set_after(0s);
  let_due_times_come();
  object.disarm();
  only_thread.release();
  let_pool_of_one_finish(pool);
  EXPECT_EQ(fired.count(), 0u);
}

TEST_F(timers, are_set_from_setting_to_disarming_and_not_just_until_they_fire) {
  tally fired;
  timer object([&] { fired.add(); });
  EXPECT_FALSE(object.is_set());
  object.set_after(1h);
  EXPECT_TRUE(object.is_set());
  object.disarm();
  EXPECT_FALSE(object.is_set());
  object.set_after(0s);
  EXPECT_TRUE(fired.reaches(1));
  object.wait_for_callbacks();
  EXPECT_TRUE(object.is_set());  // it will not fire again all the same
  object.disarm();
  EXPECT_FALSE(object.is_set());
  object.set_at(system_clock::time_point());
  EXPECT_TRUE(fired.reaches(2));
  EXPECT_TRUE(object.is_set());
  object.cancel_pending();
  EXPECT_TRUE(object.is_set());
  object.stop_and_drain();
  EXPECT_FALSE(object.is_set());
}

TEST_F(timers, take_nothing_from_the_heap_when_they_are_set) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  const private_pool pool(2, 2);  // its threads are there, so that none has to be made
  timer object([] {}, pool.environment);
  object.set_after(1h);
  let_due_times_come();
  const allocation_count here(allocation_count::of::this_thread);
  for (int i = 0; i != 1000; ++i) {
    object.set_after(1h);
    object.set_at(system_clock::now() + 1h);
    object.set_after_with_window(1h, 1s);
    object.disarm();
  }
  EXPECT_EQ(here.count(), 0u);
}

TEST_F(timers, hold_the_callable_in_their_only_block_of_memory) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  constexpr std::size_t large = 10'000;
  const allocation_count made(allocation_count::of::this_thread);
  timer object([state = std::array<char, large>()] { static_cast<void>(state); });
  EXPECT_GT(made.count(), 0u);
  EXPECT_LE(made.count(), 2u);  // one of them is the system's own
  EXPECT_GT(made.largest(), large);
  EXPECT_LT(made.largest(), large + 384);
}

TEST_F(timers, fire_on_the_pool_of_their_environment) {
  const private_pool pool(1);
  contract::thread_number pool_thread = 0;
  contract::thread_number timer_thread = 0;
  tally fired;
  work probe([&] { pool_thread = this_thread(); }, pool.environment);
  probe.submit();
  probe.wait_for_callbacks();
  timer object(
      [&] {
        timer_thread = this_thread();
        fired.add();
      },
      pool.environment);
  object.set_after(0s);
  ASSERT_TRUE(fired.reaches(1));
  EXPECT_EQ(timer_thread, pool_thread);
}

TEST_F(timers, publish_what_was_done_before_they_were_set_and_what_the_callback_did) {
  int value = 0;
  tally fired;
  timer object([&] {
    ++value;
    fired.add();
  });
  for (unsigned i = 1; i <= 200; ++i) {
    ++value;
    object.set_after(0s);
    ASSERT_TRUE(fired.reaches(i));
    object.wait_for_callbacks();
    EXPECT_EQ(value, static_cast<int>(2 * i));
  }
}

// ---- drains --------------------------------------------------------------------------------------------

TEST_F(timers, are_waited_for_with_a_firing_that_has_not_started_but_not_with_a_due_time_that_has_not_come) {
  const private_pool pool(1);
  tally fired;
  timer object([&] { fired.add(); }, pool.environment);
  object.set_after(1h);
  object.wait_for_callbacks();

  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  object.set_after(0s);
  let_due_times_come();
  tally waited;
  const std::jthread waiter = begin([&] {
    object.wait_for_callbacks();
    EXPECT_EQ(fired.count(), 1u);
    waited.add();
  });
  EXPECT_EQ(waited.count(), 0u);
  only_thread.release();
  EXPECT_TRUE(waited.reaches(1));
}

TEST_F(timers, drop_a_queued_firing_when_it_is_cancelled_and_wait_for_a_running_one) {
  const private_pool pool(1);
  tally started;
  gate release;
  std::atomic<int> finished = 0;
  timer object(
      [&] {
        started.add();
        EXPECT_TRUE(release.pass());
        ++finished;
      },
      pool.environment);
  object.set_after(0s);
  ASSERT_TRUE(started.reaches(1));
  object.set_after(0s);  // is queued behind the first
  let_due_times_come();
  tally returned;
  const std::jthread canceller = begin([&] {
    object.cancel_pending();
    EXPECT_EQ(finished, 1);
    returned.add();
  });
  EXPECT_EQ(returned.count(), 0u);
  release.open();
  EXPECT_TRUE(returned.reaches(1));
  let_pool_of_one_finish(pool);
  EXPECT_EQ(started.count(), 1u);
}

template <class End>
void expect_a_queued_firing_to_run_before(End end) {
  const private_pool pool(1);
  tally fired;
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  std::optional<timer> object(std::in_place, [&] { fired.add(); }, pool.environment);
  object->set_after(0s);
  let_due_times_come();
  tally ended;
  const std::jthread ender = begin([&] {
    end(object);
    EXPECT_EQ(fired.count(), 1u);
    ended.add();
  });
  EXPECT_EQ(fired.count(), 0u);
  EXPECT_EQ(ended.count(), 0u);
  only_thread.release();
  EXPECT_TRUE(ended.reaches(1));
  EXPECT_EQ(fired.count(), 1u);
}

TEST_F(timers, let_a_queued_firing_run_when_they_are_stopped) {
  expect_a_queued_firing_to_run_before([](std::optional<timer>& object) { object->stop_and_drain(); });
}

TEST_F(timers, let_a_queued_firing_run_when_they_are_destroyed) {
  expect_a_queued_firing_to_run_before([](std::optional<timer>& object) { object.reset(); });
}

TEST_F(timers, let_a_queued_firing_run_when_they_are_assigned) {
  expect_a_queued_firing_to_run_before([](std::optional<timer>& object) { *object = timer([] {}); });
}

TEST_F(timers, forget_a_due_time_that_has_not_come_when_they_are_stopped_or_destroyed) {
  tally fired;
  {
    timer object([&] { fired.add(); });
    object.set_after(20ms);
    object.stop_and_drain();
    timer gone([&] { fired.add(); });
    gone.set_after(20ms);
  }
  const unsigned so_far = fired.count();  // on a slow machine they may have fired in time
  let_due_times_come();
  EXPECT_EQ(fired.count(), so_far);
  timer control([&] { fired.add(); });
  control.set_after(1ms);
  EXPECT_TRUE(fired.reaches(so_far + 1));
}

TEST_F(timers, wait_for_a_running_callback_when_they_are_destroyed) {
  tally started;
  gate release;
  std::atomic<bool> finished = false;
  std::optional<timer> object(std::in_place, [&] {
    started.add();
    EXPECT_TRUE(release.pass());
    finished = true;
  });
  object->set_after(0s);
  ASSERT_TRUE(started.reaches(1));
  tally destroyed;
  const std::jthread destroyer = begin([&] {
    object.reset();
    EXPECT_TRUE(finished);
    destroyed.add();
  });
  EXPECT_EQ(destroyed.count(), 0u);
  release.open();
  EXPECT_TRUE(destroyed.reaches(1));
}

// ---- teardown ------------------------------------------------------------------------------------------

TEST_F(timers, destroy_the_callable_after_the_last_run_on_the_thread_that_destroys_them) {
  std::atomic<int> running = 0;
  int running_at_destruction = -1;
  std::thread::id destroyed_on;
  tally fired;
  {
    timer object([&, last = on_destruction([&] {
                       running_at_destruction = running;
                       destroyed_on = std::this_thread::get_id();
                     })] {
      ++running;
      fired.add();
      std::this_thread::yield();
      --running;
    });
    object.set_after(0s);
    EXPECT_TRUE(fired.reaches(1));
  }
  EXPECT_EQ(running_at_destruction, 0);
  EXPECT_EQ(destroyed_on, std::this_thread::get_id());
}

TEST_F(timers, may_set_and_destroy_others_in_the_destructor_of_their_state) {
  const private_pool pool(2);
  tally ran;
  auto other = std::make_unique<timer>([&] { ran.add(); }, pool.environment);
  {
    timer object([&, last = on_destruction([&] {
                       other->set_after(0s);
                       EXPECT_TRUE(ran.reaches(1));
                       other.reset();
                       timer fresh([&] { ran.add(); }, pool.environment);
                       fresh.set_after(0s);
                       EXPECT_TRUE(ran.reaches(2));
                     })] {},
                 pool.environment);
    object.set_after(1h);
  }
  EXPECT_EQ(ran.count(), 2u);
}

TEST_F(timers, outlive_the_pool_object_they_were_made_with) {
  tally fired;
  std::optional<timer> object;
  {
    const private_pool pool(1);
    object.emplace([&] { fired.add(); }, pool.environment);
  }
  object->set_after(1ms);
  EXPECT_TRUE(fired.reaches(1));
}

TEST_F(timers, keep_their_due_time_and_their_callable_when_they_are_moved) {
  tally fired;
  std::atomic<int> alive = 0;
  std::optional<timer> original(std::in_place, [&, state = counted(alive)] { fired.add(); });
  original->set_after(10ms);
  timer moved(std::move(*original));
  original.reset();
  EXPECT_EQ(alive, 1);
  EXPECT_TRUE(moved.is_set());
  EXPECT_TRUE(fired.reaches(1));
}

TEST_F(timers, can_be_assigned_to_others_and_to_themselves) {
  tally fired;
  std::atomic<int> alive = 0;
  timer object([state = counted(alive)] {});
  object.set_after(1h);
  object = timer([&] { fired.add(); });
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(object.is_set());
  timer& itself = object;
  object = std::move(itself);
  object.set_after(0s);
  EXPECT_TRUE(fired.reaches(1));
}

TEST_F(timers, come_and_go_on_many_threads_while_they_fire) {
  const private_pool pool(4);
  std::atomic<int> calls = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 300; ++n) {
          timer object([&, state = std::make_unique<int>(1)] { calls += *state; }, pool.environment);
          object.set_after(std::chrono::microseconds((n + i) % 3 * 100));
          if (n % 2 == 0) {
            object.wait_for_callbacks();
          }
        }
      });
    }
  }
  const int after = calls;
  let_due_times_come();
  EXPECT_EQ(calls, after);
  EXPECT_GT(after, 0);
}

/// Wine does not wake a thread that waits for what another one drops.
void cancel_pending_of(timer& object) {
  if (contract::under_wine()) {
    object.disarm();
  } else {
    object.cancel_pending();
  }
}

TEST_F(timers, can_be_set_disarmed_and_drained_by_many_threads_and_are_quiet_afterwards) {
  std::atomic<int> calls = 0;
  timer object([&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 300; ++n) {
          object.set_after(std::chrono::microseconds(n % 7 * 10));
          switch ((n + i) % 4) {
            case 0: object.disarm(); break;
            case 1: object.wait_for_callbacks(); break;
            case 2: cancel_pending_of(object); break;
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
  EXPECT_GT(after, 0);
}

// ---- from inside ---------------------------------------------------------------------------------------

template <class Drain>
void expect_refusal_inside_own_callback(const char* name, Drain drain) {
  tally ran;
  std::string message;
  std::optional<timer> object;
  object.emplace([&] {
    try {
      drain(*object);
      ADD_FAILURE() << name << " does not throw";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
      message = error.what();
    }
    ran.add();
  });
  object->set_after(0s);
  EXPECT_TRUE(ran.reaches(1));
  object->stop_and_drain();
  EXPECT_NE(message.find(name), std::string::npos) << message;
}

TEST_F(timers, refuse_to_be_drained_by_their_own_callbacks) {
  expect_refusal_inside_own_callback("timer::wait_for_callbacks", [](timer& object) { object.wait_for_callbacks(); });
  expect_refusal_inside_own_callback("timer::cancel_pending", [](timer& object) { object.cancel_pending(); });
  expect_refusal_inside_own_callback("timer::stop_and_drain", [](timer& object) { object.stop_and_drain(); });
}

TEST_F(timers, that_refused_can_still_be_set_by_the_same_callback) {
  tally fired;
  std::optional<timer> object;
  object.emplace([&] {
    if (fired.count() == 0) {
      EXPECT_THROW(object->stop_and_drain(), std::system_error);
      object->set_after(0s);
    }
    fired.add();
  });
  object->set_after(0s);
  EXPECT_TRUE(fired.reaches(2));
}

TEST_F(timers, give_their_callbacks_an_instance) {
  const tidepool::event over(tidepool::reset_mode::manual);
  tally fired;
  timer object([&](timer_firing& firing) {
    EXPECT_NE(tidepool::unsafe::native_handle(firing.instance()), nullptr);
    firing.instance().set_event_when_returns(over);
    fired.add();
  });
  EXPECT_NE(tidepool::unsafe::native_handle(object), nullptr);
  object.set_after(0s);
  EXPECT_TRUE(over.wait_for(patience));
  EXPECT_EQ(fired.count(), 1u);
}

TEST_F(timers, may_be_destroyed_by_a_callback_that_is_disassociated_and_then_do_not_fire_again) {
  for (int i = 0; i != 20; ++i) {
    const private_pool pool(2);
    std::atomic<int> alive = 0;
    tally fired;
    const tidepool::event over(tidepool::reset_mode::manual);
    std::unique_ptr<timer> object;
    object = std::make_unique<timer>(
        [&, state = counted(alive)](timer_firing& firing) {
          firing.instance().set_event_when_returns(over);
          firing.instance().disassociate();
          firing.rearm_after(0s);
          object.reset();
          EXPECT_EQ(*state.alive, 1);
          fired.add();
        },
        pool.environment);
    object->set_after(0s);
    ASSERT_TRUE(over.wait_for(patience));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(fired.count(), 1u);
  }
}

}  // namespace
}  // namespace safe
