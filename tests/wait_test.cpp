// Waits: signals, time-outs, drains. Re-arming has a file of its own.
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
using tidepool::event;
using tidepool::reset_mode;
using tidepool::wait_activation;
using tidepool::wait_result;

class waits : public safe_test {
 protected:
  static bool is_set(const event& which) { return which.wait_for(0s); }
};

// ---- callables -----------------------------------------------------------------------------------------

TEST_F(waits, accept_callables_with_and_without_the_activation) {
  const event ready(reset_mode::manual, true);
  std::atomic<int> calls = 0;
  const std::function<void()> wrapped = [&] { ++calls; };
  wait objects[] = {
      wait(ready, [&] { ++calls; }),
      wait(ready, [&](wait_activation&) { ++calls; }),
      wait(ready, [&](const wait_activation&) noexcept { return ++calls; }),
      wait(ready, [&, owned = std::make_unique<int>(1)] { calls += *owned; }),
      wait(ready, wrapped),
      wait(ready, [&](auto&&... arguments) { calls += sizeof...(arguments) == 1 ? 1 : 1000; }),
  };
  for (wait& each : objects) {
    each.arm();
  }
  EXPECT_TRUE(eventually([&] { return calls >= 6; }));
  for (wait& each : objects) {
    each.stop_and_drain();
  }
  EXPECT_EQ(calls, 6);
}

TEST_F(waits, refuse_null_pointers_to_functions) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(wait(event(reset_mode::manual), null), std::errc::invalid_argument);
}

TEST_F(waits, that_the_system_refuses_throw_and_destroy_the_callable) {
  SKIP_UNDER_WINE("accepts environments of any version");
  std::atomic<int> alive = 0;
  tidepool::callback_environment environment;
  tidepool::unsafe::native_environment(environment)->Version = 99;
  EXPECT_SYSTEM_ERROR(
      wait(event(reset_mode::manual), [state = counted(alive)] {}, environment), std::errc::invalid_argument);
  EXPECT_EQ(alive, 0);
}

// ---- signals -------------------------------------------------------------------------------------------

TEST_F(waits, activate_when_the_event_is_set_and_not_before) {
  const event ready(reset_mode::automatic);
  tally activations;
  std::atomic<wait_result> result = wait_result::timed_out;
  wait object(ready, [&](wait_activation& activation) {
    result = activation.result();
    activations.add();
  });
  object.arm();
  let_due_times_come();
  EXPECT_EQ(activations.count(), 0u);
  ready.set();
  EXPECT_TRUE(activations.reaches(1));
  EXPECT_EQ(result, wait_result::signalled);
}

TEST_F(waits, activate_at_once_when_the_event_is_set_already) {
  const event ready(reset_mode::manual, true);
  tally activations;
  wait object(ready, [&] { activations.add(); });
  object.arm();
  EXPECT_TRUE(activations.reaches(1));
}

TEST_F(waits, do_nothing_before_they_are_armed) {
  const event ready(reset_mode::automatic, true);
  tally activations;
  wait object(ready, [&] { activations.add(); });
  let_due_times_come();
  EXPECT_EQ(activations.count(), 0u);
  EXPECT_TRUE(is_set(ready));
}

TEST_F(waits, activate_once_for_each_arming) {
  const event ready(reset_mode::manual, true);
  tally activations;
  wait object(ready, [&] { activations.add(); });
  for (unsigned i = 1; i <= 100; ++i) {
    object.arm();
    ASSERT_TRUE(activations.reaches(i));
    object.wait_for_callbacks();
    EXPECT_EQ(activations.count(), i);
  }
  let_due_times_come();
  EXPECT_EQ(activations.count(), 100u);
}

TEST_F(waits, reset_an_automatic_event_once_per_activation) {
  const event ready(reset_mode::automatic);
  tally activations;
  wait object(ready, [&] { activations.add(); });
  for (unsigned i = 1; i <= 100; ++i) {
    object.arm();
    ready.set();
    ASSERT_TRUE(activations.reaches(i));
    EXPECT_FALSE(is_set(ready));
  }
}

TEST_F(waits, for_one_automatic_event_get_one_signal_each) {
  const event ready(reset_mode::automatic);
  tally activations;
  wait first(ready, [&] { activations.add(); });
  wait second(ready, [&] { activations.add(); });
  first.arm();
  second.arm();
  ready.set();
  EXPECT_TRUE(activations.reaches(1));
  let_due_times_come();
  EXPECT_EQ(activations.count(), 1u);
  ready.set();
  EXPECT_TRUE(activations.reaches(2));
}

TEST_F(waits, keep_the_event_they_were_made_from) {
  tally activations;
  std::optional<event> ready(std::in_place, reset_mode::automatic);
  const event copy = *ready;
  wait object(*ready, [&] { activations.add(); });
  EXPECT_NE(tidepool::unsafe::native_handle(object), nullptr);
  ready.reset();
  object.arm();
  copy.set();
  EXPECT_TRUE(activations.reaches(1));

  std::optional<event> last(std::in_place, reset_mode::manual, true);
  wait alone(*last, [&] { activations.add(); });
  last.reset();
  alone.arm();
  EXPECT_TRUE(activations.reaches(2));
}

TEST_F(waits, publish_what_was_done_before_the_signal_and_what_the_callback_did) {
  const event ready(reset_mode::automatic);
  int value = 0;
  tally activations;
  wait object(ready, [&] {
    ++value;
    activations.add();
  });
  for (unsigned i = 1; i <= 200; ++i) {
    object.arm();
    ++value;
    ready.set();
    ASSERT_TRUE(activations.reaches(i));
    object.wait_for_callbacks();
    EXPECT_EQ(value, static_cast<int>(2 * i));
  }
}

// ---- time-outs -----------------------------------------------------------------------------------------

TEST_F(waits, time_out_and_never_early) {
  const event never(reset_mode::manual);
  const auto expect_time_out = [&](auto duration) {
    tally activations;
    steady_clock::time_point when;
    wait_result result = wait_result::signalled;
    wait object(never, [&](wait_activation& activation) {
      when = steady_clock::now();
      result = activation.result();
      activations.add();
    });
    const steady_clock::time_point begin = steady_clock::now();
    object.arm(duration);
    ASSERT_TRUE(activations.reaches(1));
    EXPECT_GE(when - begin, duration);
    EXPECT_EQ(result, wait_result::timed_out);
  };
  for (int i = 0; i != 3; ++i) {
    expect_time_out(1ns);
    expect_time_out(1ms);
    expect_time_out(17'300us);
    expect_time_out(std::chrono::duration<double>(0.0123));
  }
}

TEST_F(waits, only_look_when_there_is_no_time) {
  const event ready(reset_mode::manual);
  std::atomic<wait_result> result = wait_result::signalled;
  tally activations;
  unsigned expected = 0;
  wait object(ready, [&](wait_activation& activation) {
    result = activation.result();
    activations.add();
  });
  const auto look = [&](auto time_out, wait_result expectation) {
    object.arm(time_out);
    EXPECT_TRUE(activations.reaches(++expected));
    EXPECT_EQ(result, expectation);
  };
  look(0s, wait_result::timed_out);
  look(-1h, wait_result::timed_out);
  look(std::chrono::hours::min(), wait_result::timed_out);
  look(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()), wait_result::timed_out);
  SKIP_UNDER_WINE("a wait of time-out 0 on a signalled event reports the time-out");
  ready.set();
  look(0s, wait_result::signalled);
  look(-1h, wait_result::signalled);
}

TEST_F(waits, that_may_take_long_are_still_waiting) {
  const event ready(reset_mode::automatic);
  tally activations;
  std::atomic<wait_result> result = wait_result::timed_out;
  wait object(ready, [&](wait_activation& activation) {
    result = activation.result();
    activations.add();
  });
  unsigned expected = 0;
  const auto expect_patience = [&](auto time_out) {
    object.arm(time_out);
    let_due_times_come();
    EXPECT_EQ(activations.count(), expected);
    ready.set();
    EXPECT_TRUE(activations.reaches(++expected));
    EXPECT_EQ(result, wait_result::signalled);
  };
  expect_patience(1h);
  expect_patience(std::chrono::years(90));
  expect_patience(std::chrono::years(100));
  expect_patience(std::chrono::nanoseconds::max());
  expect_patience(std::chrono::hours::max());
  expect_patience(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
}

TEST_F(waits, use_the_time_out_of_their_last_arming) {
  const event never(reset_mode::manual);
  tally activations;
  wait object(never, [&] { activations.add(); });
  object.arm(1h);
  object.arm(1ms);
  EXPECT_TRUE(activations.reaches(1));
  object.arm(50ms);
  object.arm();
  let_due_times_come();
  let_due_times_come();
  EXPECT_LE(activations.count(), 2u);  // on a slow machine the time was over before it was replaced
}

TEST_F(waits, that_are_disarmed_leave_the_signal_to_others) {
  const event ready(reset_mode::automatic);
  std::optional<tally> activations;
  std::optional<wait> object;
  const contract::ticks delay = contract::in_time([&](contract::ticks time_out) {
    object.reset();
    activations.emplace();
    object.emplace(ready, [&] { activations->add(); });
    object->arm(time_out);
    object->disarm();
  });
  contract::let_due_times_pass(2 * delay);
  ready.set();
  let_due_times_come();
  EXPECT_EQ(activations->count(), 0u);
  EXPECT_TRUE(is_set(ready));
  object->arm();  // the control
  ready.set();
  EXPECT_TRUE(activations->reaches(1));
}

TEST_F(waits, take_nothing_from_the_heap_when_they_are_armed_and_one_block_when_they_are_made) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  constexpr std::size_t large = 10'000;
  const private_pool pool(2, 2);  // its threads are there, so that none has to be made
  const event never(reset_mode::manual);
  const wait first(never, [] {}, pool.environment);  // makes what there is once for a pool
  const allocation_count made(allocation_count::of::this_thread);
  wait object(never, [state = std::array<char, large>()] { static_cast<void>(state); }, pool.environment);
  EXPECT_LE(made.count(), 2u);  // one of them is the system's own
  EXPECT_GT(made.largest(), large);
  EXPECT_LT(made.largest(), large + 384);
  object.arm(1h);
  let_due_times_come();
  const allocation_count here(allocation_count::of::this_thread);
  for (int i = 0; i != 1000; ++i) {
    object.arm();
    object.arm(1h);
    object.disarm();
  }
  EXPECT_EQ(here.count(), 0u);
}

// ---- drains --------------------------------------------------------------------------------------------

/// A wait whose activation is queued in a pool of one thread, which is held.
class with_a_queued_activation : public waits {
 protected:
  void queue() {
    ASSERT_TRUE(only_thread_.held());
    object.emplace(ready_, [this] { activations.add(); }, pool_.environment);
    object->arm();
    ready_.set();
    let_due_times_come();
  }

  void release() {
    only_thread_.release();
    let_pool_of_one_finish(pool_);
  }

  tally activations;
  std::optional<wait> object;

  /// `end` runs on a thread of its own, and returns only when the activation is over.
  template <class End>
  void expect_it_to_run_before(End end) {
    queue();
    tally ended;
    const std::jthread ender = begin([&] {
      end(object);
      EXPECT_EQ(activations.count(), 1u);
      ended.add();
    });
    EXPECT_EQ(activations.count(), 0u);
    EXPECT_EQ(ended.count(), 0u);
    only_thread_.release();
    EXPECT_TRUE(ended.reaches(1));
  }

 private:
  event ready_{reset_mode::automatic};
  private_pool pool_{1};
  occupier only_thread_{pool_.environment};
};

TEST_F(with_a_queued_activation, a_disarmed_wait_still_runs_it) {
  queue();
  object->disarm();
  release();
  EXPECT_EQ(activations.count(), 1u);
}

TEST_F(with_a_queued_activation, a_wait_is_waited_for) {
  expect_it_to_run_before([](std::optional<wait>& which) { which->wait_for_callbacks(); });
}

TEST_F(with_a_queued_activation, a_wait_that_is_stopped_lets_it_run) {
  expect_it_to_run_before([](std::optional<wait>& which) { which->stop_and_drain(); });
}

TEST_F(with_a_queued_activation, a_wait_that_is_destroyed_lets_it_run) {
  expect_it_to_run_before([](std::optional<wait>& which) { which.reset(); });
}

TEST_F(with_a_queued_activation, a_wait_that_is_assigned_lets_it_run) {
  expect_it_to_run_before([](std::optional<wait>& which) { *which = wait(event(reset_mode::manual), [] {}); });
}

TEST_F(waits, are_not_waited_for_when_no_signal_has_come) {
  const event never(reset_mode::manual);
  tally activations;
  {
    wait object(never, [&] { activations.add(); });
    object.arm();
    object.wait_for_callbacks();
    object.stop_and_drain();
    object.arm(1h);
  }
  never.set();
  let_due_times_come();
  EXPECT_EQ(activations.count(), 0u);
}

TEST_F(waits, no_longer_listen_when_they_have_been_stopped_and_can_be_armed_again) {
  const event ready(reset_mode::automatic);
  tally activations;
  wait object(ready, [&] { activations.add(); });
  for (unsigned i = 1; i <= 10; ++i) {
    object.arm();
    object.stop_and_drain();
    ready.set();
    let_another_pool_work();
    EXPECT_EQ(activations.count(), i - 1);
    object.arm();
    EXPECT_TRUE(activations.reaches(i));
    object.stop_and_drain();
  }
}

TEST_F(waits, wait_for_a_running_callback_when_they_are_destroyed) {
  tally started;
  gate release;
  std::atomic<bool> finished = false;
  std::optional<wait> object(std::in_place, event(reset_mode::manual, true), [&] {
    started.add();
    EXPECT_TRUE(release.pass());
    finished = true;
  });
  object->arm();
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

// ---- teardown and moving -------------------------------------------------------------------------------

TEST_F(waits, may_use_others_in_the_destructor_of_their_state) {
  const private_pool pool(2);
  tally ran;
  const event ready(reset_mode::automatic);
  auto other = std::make_unique<wait>(ready, [&] { ran.add(); }, pool.environment);
  {
    wait object(event(reset_mode::manual), [&, last = on_destruction([&] {
                                                 other->arm();
                                                 ready.set();
                                                 EXPECT_TRUE(ran.reaches(1));
                                                 other.reset();
                                               })] {});
    object.arm();
  }
  EXPECT_EQ(ran.count(), 1u);
}

TEST_F(waits, keep_their_arming_and_their_callable_when_they_are_moved) {
  const event ready(reset_mode::automatic);
  tally activations;
  std::atomic<int> alive = 0;
  std::optional<wait> original(std::in_place, ready, [&, state = counted(alive)] { activations.add(); });
  original->arm();
  wait moved(std::move(*original));
  original.reset();
  EXPECT_EQ(alive, 1);
  ready.set();
  EXPECT_TRUE(activations.reaches(1));

  wait other(event(reset_mode::manual), [] {});
  other.arm();
  other = std::move(moved);
  other.arm();
  ready.set();
  EXPECT_TRUE(activations.reaches(2));
  wait& itself = other;
  other = std::move(itself);
  other.arm();
  ready.set();
  EXPECT_TRUE(activations.reaches(3));
}

TEST_F(waits, come_and_go_on_many_threads_while_they_are_signalled) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  const private_pool pool(4);
  std::atomic<int> calls = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n != 200; ++n) {
          const event ready(n % 2 == 0 ? reset_mode::automatic : reset_mode::manual);
          wait object(ready, [&, state = std::make_unique<int>(1)] { calls += *state; }, pool.environment);
          object.arm();
          ready.set();
          if (n % 3 == 0) {
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

TEST_F(waits, can_be_armed_disarmed_and_drained_by_many_threads_and_are_quiet_afterwards) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  const event ready(reset_mode::manual, true);
  std::atomic<int> calls = 0;
  wait object(ready, [&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 200; ++n) {
          object.arm();
          switch ((n + i) % 3) {
            case 0: object.disarm(); break;
            case 1: object.wait_for_callbacks(); break;
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
  object.arm();
  EXPECT_TRUE(eventually([&] { return calls > after; }));
}

// ---- from inside ---------------------------------------------------------------------------------------

template <class Drain>
void expect_refusal_inside_own_callback(const char* name, Drain drain) {
  tally ran;
  std::string message;
  std::optional<wait> object;
  object.emplace(event(reset_mode::manual, true), [&] {
    try {
      drain(*object);
      ADD_FAILURE() << name << " does not throw";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
      message = error.what();
    }
    ran.add();
  });
  object->arm();
  EXPECT_TRUE(ran.reaches(1));
  object->stop_and_drain();
  EXPECT_NE(message.find(name), std::string::npos) << message;
}

TEST_F(waits, refuse_to_be_drained_by_their_own_callbacks) {
  expect_refusal_inside_own_callback("wait::wait_for_callbacks", [](wait& object) { object.wait_for_callbacks(); });
  expect_refusal_inside_own_callback("wait::stop_and_drain", [](wait& object) { object.stop_and_drain(); });
}

TEST_F(waits, may_be_destroyed_by_a_callback_that_is_disassociated_and_then_do_not_activate_again) {
  for (int i = 0; i != 20; ++i) {
    const private_pool pool(2);
    std::atomic<int> alive = 0;
    tally activations;
    const event over(reset_mode::manual);
    std::unique_ptr<wait> object;
    object = std::make_unique<wait>(
        event(reset_mode::manual, true),
        [&, state = counted(alive)](wait_activation& activation) {
          activation.instance().set_event_when_returns(over);
          activation.instance().disassociate();
          activation.rearm();
          object.reset();
          EXPECT_EQ(*state.alive, 1);
          activations.add();
        },
        pool.environment);
    object->arm();
    ASSERT_TRUE(over.wait_for(patience));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(activations.count(), 1u);
  }
}

}  // namespace
}  // namespace safe
