// Work: callables, submissions, drains.
#include <array>
#include <functional>
#include <optional>
#include <string>

#include "allocations.hpp"
#include "safe.hpp"

namespace safe {
namespace {

using tidepool::callback_instance;
using tidepool::priority;

class works : public safe_test {};

// ---- callables -----------------------------------------------------------------------------------------

std::atomic<int> free_function_calls = 0;
void free_function() { ++free_function_calls; }
void free_function_with_instance(callback_instance&) { ++free_function_calls; }

template <class F>
void run_twice(F&& callable) {
  work object(std::forward<F>(callable));
  object.submit();
  object.submit();
}

TEST_F(works, accept_functions) {
  free_function_calls = 0;
  run_twice(free_function);
  run_twice(&free_function);
  run_twice(free_function_with_instance);
  EXPECT_EQ(free_function_calls, 6);
}

TEST_F(works, accept_closures_with_and_without_the_instance) {
  std::atomic<int> calls = 0;
  run_twice([&] { ++calls; });
  run_twice([&](callback_instance&) { ++calls; });
  run_twice([&](const callback_instance&) { ++calls; });
  run_twice([&]() noexcept { ++calls; });
  EXPECT_EQ(calls, 8);
}

TEST_F(works, accept_callables_that_return_something) {
  std::atomic<int> calls = 0;
  run_twice([&] { return ++calls; });
  run_twice([&]() -> std::unique_ptr<int> { return std::make_unique<int>(++calls); });
  EXPECT_EQ(calls, 4);
}

TEST_F(works, hand_the_instance_to_callables_that_take_anything) {
  std::atomic<int> without = 0;
  std::atomic<int> with = 0;
  run_twice([&](auto&&... arguments) { ++(sizeof...(arguments) == 0 ? without : with); });
  EXPECT_EQ(without, 0);
  EXPECT_EQ(with, 2);
}

TEST_F(works, accept_wrapped_and_bound_functions) {
  std::atomic<int> calls = 0;
  const std::function<void()> wrapped = [&] { ++calls; };
  run_twice(wrapped);
  run_twice(std::ref(wrapped));
  run_twice(std::bind_front([](std::atomic<int>& which) { ++which; }, std::ref(calls)));
  EXPECT_EQ(calls, 6);
}

TEST_F(works, accept_callables_that_can_only_be_moved) {
  std::atomic<int> sum = 0;
  run_twice([&, number = std::make_unique<int>(21)] { sum += *number; });
  EXPECT_EQ(sum, 42);
}

TEST_F(works, accept_callables_with_changing_state) {
  std::atomic<int> last = 0;
  const private_pool pool(1);  // so that the runs do not meet
  work object([&, n = 0]() mutable { last = ++n; }, pool.environment);
  object.submit();
  object.submit();
  object.submit();
  object.stop_and_drain();
  EXPECT_EQ(last, 3);
}

TEST_F(works, refuse_null_pointers_to_functions) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(work{null}, std::errc::invalid_argument);
}

struct copies_and_moves {
  int* copies;
  int* moves;
  copies_and_moves(int& count_copies, int& count_moves) : copies(&count_copies), moves(&count_moves) {}
  copies_and_moves(const copies_and_moves& other) : copies(other.copies), moves(other.moves) { ++*copies; }
  copies_and_moves(copies_and_moves&& other) noexcept : copies(other.copies), moves(other.moves) { ++*moves; }
  void operator()() const {}
};

TEST_F(works, move_a_temporary_callable_once_and_copy_a_lasting_one_once) {
  int copies = 0;
  int moves = 0;
  copies_and_moves callable(copies, moves);
  {
    work from_lasting(callable);
    EXPECT_EQ(copies, 1);
    EXPECT_EQ(moves, 0);
    work from_temporary(std::move(callable));
    EXPECT_EQ(copies, 1);
    EXPECT_EQ(moves, 1);
    work moved(std::move(from_temporary));
    EXPECT_EQ(copies, 1);
    EXPECT_EQ(moves, 1);
  }
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("can not be copied today"); }
  void operator()() const {}
};

TEST_F(works, pass_on_what_copying_the_callable_throws) {
  const throws_when_copied callable;
  EXPECT_THROW(work{callable}, std::runtime_error);
}

TEST_F(works, that_the_system_refuses_throw_and_destroy_the_callable) {
  SKIP_UNDER_WINE("accepts environments of any version");
  std::atomic<int> alive = 0;
  tidepool::callback_environment environment;
  tidepool::unsafe::native_environment(environment)->Version = 99;
  EXPECT_SYSTEM_ERROR(work([state = counted(alive)] {}, environment), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(work([state = counted(alive)] {}, environment), std::error_code(87, tidepool::win32_category()));
  EXPECT_EQ(alive, 0);
}

// ---- submissions ---------------------------------------------------------------------------------------

TEST_F(works, run_once_for_each_submission) {
  std::atomic<int> calls = 0;
  work object([&] { ++calls; });
  for (int i = 0; i != 20'000; ++i) {
    object.submit();
  }
  object.wait_for_callbacks();
  EXPECT_EQ(calls, 20'000);
}

TEST_F(works, run_once_for_each_submission_from_many_threads) {
  std::atomic<int> calls = 0;
  work object([&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n != 5'000; ++n) {
          object.submit();
        }
      });
    }
  }
  object.wait_for_callbacks();
  EXPECT_EQ(calls, 20'000);
}

TEST_F(works, do_not_run_without_a_submission) {
  std::atomic<int> calls = 0;
  work object([&] { ++calls; });
  object.wait_for_callbacks();
  let_another_pool_work();
  EXPECT_EQ(calls, 0);
}

TEST_F(works, may_run_several_submissions_at_once) {
  tally inside;
  gate release;
  work object([&] {
    inside.add();
    EXPECT_TRUE(release.pass());
  });
  object.submit();
  object.submit();
  EXPECT_TRUE(inside.reaches(2));
  release.open();
}

TEST_F(works, may_be_submitted_by_their_own_callbacks) {
  std::atomic<int> calls = 0;
  std::optional<work> object;
  object.emplace([&] {
    if (++calls < 1000) {
      object->submit();
    }
  });
  object->submit();
  object->stop_and_drain();  // a callback that has submitted is not over before its submission counts
  EXPECT_EQ(calls, 1000);
}

TEST_F(works, publish_what_was_done_before_the_submission_and_what_the_callback_did) {
  const private_pool pool(2);
  int value = 0;
  work object([&] { ++value; }, pool.environment);
  for (int i = 0; i != 1000; ++i) {
    ++value;
    object.submit();
    object.wait_for_callbacks();
    EXPECT_EQ(value, 2 * i + 2);
  }
}

TEST_F(works, of_a_higher_priority_go_first) {
  const private_pool pool(1);
  journal order;
  work low([&] { order.note('l'); }, pool.with(priority::low));
  work normal([&] { order.note('n'); }, pool.with(priority::normal));
  work high([&] { order.note('h'); }, pool.with(priority::high));
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  for (int i = 0; i != 2; ++i) {
    low.submit();
    normal.submit();
    high.submit();
  }
  only_thread.release();
  low.stop_and_drain();
  EXPECT_EQ(order.text(), "hhnnll");
}

TEST_F(works, take_nothing_from_the_heap_when_they_are_submitted) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  const private_pool pool(2, 2);  // its threads are there, so that none has to be made
  std::atomic<int> calls = 0;
  work object([&, state = std::array<char, 1000>()] { calls += static_cast<int>(state.size()) / 1000; },
              pool.environment);
  object.submit();
  object.wait_for_callbacks();

  const allocation_count here(allocation_count::of::this_thread);
  const allocation_count everywhere(allocation_count::of::all_threads);
  for (int i = 0; i != 10'000; ++i) {
    object.submit();
  }
  EXPECT_EQ(here.count(), 0u);
  object.wait_for_callbacks();
  EXPECT_EQ(calls, 10'001);
  EXPECT_EQ(everywhere.count(), 0u);
}

TEST_F(works, hold_the_callable_in_their_only_block_of_memory) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  constexpr std::size_t large = 10'000;
  const allocation_count made(allocation_count::of::this_thread);
  work object([state = std::array<char, large>()] { static_cast<void>(state); });
  EXPECT_GT(made.count(), 0u);
  EXPECT_LE(made.count(), 2u);  // one of them is the system's own
  EXPECT_GT(made.largest(), large);
  EXPECT_LT(made.largest(), large + 256);
}

// ---- drains --------------------------------------------------------------------------------------------

TEST_F(works, are_waited_for_with_the_submissions_that_have_not_started) {
  const private_pool pool(1);
  std::atomic<int> calls = 0;
  work object([&] { ++calls; }, pool.environment);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  for (int i = 0; i != 10; ++i) {
    object.submit();
  }
  tally waited;
  std::jthread waiter([&] {
    object.wait_for_callbacks();
    EXPECT_EQ(calls, 10);
    waited.add();
  });
  let_another_pool_work();
  EXPECT_EQ(waited.count(), 0u);
  EXPECT_EQ(calls, 0);
  only_thread.release();
  EXPECT_TRUE(waited.reaches(1));
}

TEST_F(works, drop_the_submissions_that_have_not_started_and_no_others) {
  const private_pool pool(1);
  std::atomic<int> calls = 0;
  tally started;
  gate release;
  std::atomic<bool> finished = false;
  work object(
      [&] {
        started.add();
        EXPECT_TRUE(release.pass());
        ++calls;
        finished = true;
      },
      pool.environment);
  object.submit();
  ASSERT_TRUE(started.reaches(1));
  for (int i = 0; i != 5; ++i) {
    object.submit();
  }
  tally returned;
  std::jthread canceller([&] {
    object.cancel_pending();
    EXPECT_TRUE(finished);
    returned.add();
  });
#ifdef _WIN32
  let_another_pool_work();  // most likely they have been dropped by then
#else
  ASSERT_TRUE(contract::eventually([&] { return pool.pool.statistics().queued_callbacks == 0; }));
#endif
  EXPECT_EQ(returned.count(), 0u);
  release.open();
  EXPECT_TRUE(returned.reaches(1));
#ifndef _WIN32
  EXPECT_EQ(calls, 1);
#endif

  calls = 0;
  object.submit();
  object.wait_for_callbacks();
  EXPECT_EQ(calls, 1);
}

TEST_F(works, whose_submissions_are_all_dropped_do_not_wait_for_the_queue) {
  const private_pool pool(1);
  std::atomic<int> calls = 0;
  work object([&] { ++calls; }, pool.environment);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  for (int i = 0; i != 100; ++i) {
    object.submit();
  }
  object.cancel_pending();
  only_thread.release();
  object.wait_for_callbacks();
  EXPECT_EQ(calls, 0);
}

TEST_F(works, run_what_is_queued_when_they_are_stopped_and_can_be_submitted_again) {
  const private_pool pool(1);
  std::atomic<int> calls = 0;
  work object([&] { ++calls; }, pool.environment);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i != 10; ++i) {
      object.submit();
    }
    object.stop_and_drain();
    EXPECT_EQ(calls, 10 * round);
  }
}

TEST_F(works, run_what_is_queued_when_they_are_destroyed) {
  const private_pool pool(1);
  std::atomic<int> calls = 0;
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  std::jthread destroyer([&] {
    work object([&] { ++calls; }, pool.environment);
    for (int i = 0; i != 10; ++i) {
      object.submit();
    }
  });
  let_another_pool_work();
  EXPECT_EQ(calls, 0);
  only_thread.release();
  destroyer.join();
  EXPECT_EQ(calls, 10);
}

TEST_F(works, can_be_drained_by_several_threads_at_once) {
  std::atomic<int> calls = 0;
  work object([&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 300; ++n) {
          object.submit();
          if (i % 2 == 0) {
            object.stop_and_drain();
          } else {
            object.wait_for_callbacks();
          }
        }
      });
    }
  }
  EXPECT_EQ(calls, 1200);
}

TEST_F(works, can_be_cancelled_while_others_submit_and_are_quiet_afterwards) {
  std::atomic<int> calls = 0;
  std::atomic<int> submitted = 0;
  {
    work object([&] { ++calls; });
    std::vector<std::jthread> threads;
    for (int i = 0; i != 3; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n != 1000; ++n) {
          object.submit();
          ++submitted;
        }
      });
    }
    for (int n = 0; n != 200; ++n) {
      object.cancel_pending();
    }
    threads.clear();
    object.cancel_pending();
    const int after = calls;
    let_another_pool_work();
    EXPECT_EQ(calls, after);
    EXPECT_LE(calls, submitted);
    object.submit();
  }
  EXPECT_GT(calls, 0);
}

// ---- teardown ------------------------------------------------------------------------------------------

TEST_F(works, destroy_the_callable_after_the_last_run_on_the_thread_that_destroys_them) {
  std::atomic<int> running = 0;
  int running_at_destruction = -1;
  std::thread::id destroyed_on;
  {
    work object([&, last = on_destruction([&] {
                      running_at_destruction = running;
                      destroyed_on = std::this_thread::get_id();
                    })] {
      ++running;
      std::this_thread::yield();
      --running;
    });
    for (int i = 0; i != 100; ++i) {
      object.submit();
    }
  }
  EXPECT_EQ(running_at_destruction, 0);
  EXPECT_EQ(destroyed_on, std::this_thread::get_id());
}

TEST_F(works, may_submit_and_destroy_others_in_the_destructor_of_their_state) {
  const private_pool pool(1);
  tally ran;
  auto other = std::make_unique<work>([&] { ran.add(); }, pool.environment);
  other->submit();
  {
    work object([&, last = on_destruction([&] {
                      other->submit();
                      other.reset();
                      work fresh([&] { ran.add(); }, pool.environment);
                      fresh.submit();
                      fresh.stop_and_drain();
                      tidepool::submit([&] { ran.add(); }, pool.environment);
                    })] {},
                pool.environment);
    object.submit();
  }
  EXPECT_TRUE(ran.reaches(4));
}

TEST_F(works, may_be_destroyed_by_the_callbacks_of_others) {
  tally ran;
  for (int i = 0; i != 100; ++i) {
    auto inner = std::make_unique<work>([&] { ran.add(); });
    inner->submit();
    work outer([&] {
      inner->submit();
      inner.reset();
      ran.add();
    });
    outer.submit();
  }
  EXPECT_EQ(ran.count(), 300u);
}

TEST_F(works, keep_their_submissions_and_their_callable_when_they_are_moved) {
  const private_pool pool(1);
  std::atomic<int> calls = 0;
  std::atomic<int> alive = 0;
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  std::optional<work> original(std::in_place, [&, state = counted(alive)] { ++calls; }, pool.environment);
  original->submit();
  work moved(std::move(*original));
  original.reset();
  EXPECT_EQ(alive, 1);
  moved.submit();
  only_thread.release();
  moved.stop_and_drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(works, drain_what_they_held_before_they_are_assigned) {
  std::atomic<int> first_calls = 0;
  std::atomic<int> second_calls = 0;
  std::atomic<int> alive = 0;
  work object([&, state = counted(alive)] { ++first_calls; });
  for (int i = 0; i != 100; ++i) {
    object.submit();
  }
  object = work([&] { ++second_calls; });
  EXPECT_EQ(first_calls, 100);
  EXPECT_EQ(alive, 0);
  object.submit();
  object.stop_and_drain();
  EXPECT_EQ(second_calls, 1);

  work& itself = object;
  object = std::move(itself);
  object.submit();
  object.stop_and_drain();
  EXPECT_EQ(second_calls, 2);
}

TEST_F(works, can_be_given_new_life_after_they_were_moved_from) {
  std::atomic<int> calls = 0;
  work object([] {});
  const work taken(std::move(object));
  object = work([&] { ++calls; });
  object.submit();
  object.stop_and_drain();
  EXPECT_EQ(calls, 1);
}

TEST_F(works, can_live_in_containers) {
  std::atomic<int> calls = 0;
  {
    std::vector<work> many;
    for (int i = 0; i != 100; ++i) {
      many.emplace_back([&] { ++calls; });
      many.back().submit();  // the vector moves those before while they run
    }
    many.erase(many.begin(), many.begin() + 50);
    EXPECT_GE(calls, 50);
  }
  EXPECT_EQ(calls, 100);
}

TEST_F(works, come_and_go_on_many_threads) {
  const private_pool pool(4);
  std::atomic<int> calls = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n != 500; ++n) {
          work object([&, state = std::make_unique<int>(1)] { calls += *state; }, pool.environment);
          object.submit();
          object.submit();
        }
      });
    }
  }
  EXPECT_EQ(calls, 4000);
}

// ---- draining from inside --------------------------------------------------------------------------------

template <class Drain>
void expect_refusal_inside_own_callback(const char* name, Drain drain) {
  tally ran;
  std::string message;
  std::optional<work> object = work([&] {
    EXPECT_SYSTEM_ERROR(drain(*object), std::errc::resource_deadlock_would_occur);
    try {
      drain(*object);
    } catch (const std::system_error& error) {
      message = error.what();
    }
    ran.add();
  });
  object->submit();
  EXPECT_TRUE(ran.reaches(1));
  object->stop_and_drain();
  EXPECT_NE(message.find(name), std::string::npos) << message;
  EXPECT_NE(message.find("work_test.cpp"), std::string::npos) << message;
}

TEST_F(works, refuse_to_be_drained_by_their_own_callbacks) {
  expect_refusal_inside_own_callback("work::wait_for_callbacks", [](work& object) { object.wait_for_callbacks(); });
  expect_refusal_inside_own_callback("work::cancel_pending", [](work& object) { object.cancel_pending(); });
  expect_refusal_inside_own_callback("work::stop_and_drain", [](work& object) { object.stop_and_drain(); });
}

TEST_F(works, can_be_drained_by_callbacks_that_are_not_theirs) {
  std::atomic<int> calls = 0;
  work inner([&] { ++calls; });
  work outer([&] {
    inner.submit();
    inner.wait_for_callbacks();
    inner.submit();
    inner.stop_and_drain();
    inner.cancel_pending();
  });
  outer.submit();
  outer.stop_and_drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(works, that_refused_can_still_be_used_by_the_same_callback) {
  std::atomic<int> calls = 0;
  std::optional<work> object;
  object.emplace([&] {
    if (++calls == 1) {
      EXPECT_THROW(object->stop_and_drain(), std::system_error);
      object->submit();
    }
  });
  object->submit();
  object->stop_and_drain();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace safe
