// How many threads a pool has: its maximum, its minimum, and what they do to each other.
#include <atomic>
#include <mutex>

#include "contract/fixtures.hpp"
#include "contract/threads.hpp"

namespace {

using namespace contract;

class pool_limits : public contract_test {};

/// Holds `count` threads of the pool at once and returns their numbers.
std::set<thread_number> threads_holding(PTP_CALLBACK_ENVIRON where, unsigned count) {
  std::mutex mutex;
  std::set<thread_number> numbers;
  tally inside;
  gate release;
  std::vector<std::unique_ptr<work>> holders;
  for (unsigned i = 0; i != count; ++i) {
    holders.push_back(std::make_unique<work>(
        [&] {
          {
            const std::lock_guard lock{mutex};
            numbers.insert(this_thread());
          }
          inside.add();
          EXPECT_TRUE(release.pass());
        },
        where));
    holders.back()->submit();
  }
  EXPECT_TRUE(inside.reaches(count));
  release.open();
  holders.clear();
  return numbers;
}

/// Whether the pool, whose threads are held, leaves alone what is queued there: no thread is on its way to it any more. On
/// Windows, where nothing tells, gives one the time to come.
bool leaves_it_queued([[maybe_unused]] const pool& which) {
#ifdef _WIN32
  let_another_pool_work();
  return true;
#else
  TIDEPOOL_POOL_STATISTICS now;
  return eventually([&] {
           TidepoolQueryPoolStatistics(which.get(), &now);
           return now.Scheduled == FALSE;
         }) &&
         now.PortDepth != 0;
#endif
}

// Contract 4
TEST_F(pool_limits, a_pool_with_a_maximum_of_three_runs_three_callbacks_at_once_and_no_fourth) {
  const pool three{3};
  environment where{three};
  occupier busy{where, 3};
  ASSERT_TRUE(busy.held());

  std::atomic<int> ran{0};
  work fourth{[&] { ++ran; }, where};
  fourth.submit(5);
  EXPECT_TRUE(leaves_it_queued(three));
  EXPECT_EQ(ran, 0);

  busy.release();
  fourth.wait();
  EXPECT_EQ(ran, 5);
}

// Contract 4
TEST_F(pool_limits, a_pool_of_one_never_runs_two_callbacks_at_once) {
  const pool one{1};
  environment where{one};
  crowd running;
  const auto callback = [&] {
    running.enter();
    std::this_thread::yield();
    running.leave();
  };
  work first{callback, where};
  work second{callback, where};
  for (int i = 0; i != 200; ++i) {
    first.submit();
    second.submit();
    ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { callback(); }, where));
  }
  first.wait();
  second.wait();
  drain_pool_of_one(where);
  EXPECT_EQ(running.peak(), 1u);
}

// Contract 4
TEST_F(pool_limits, a_minimum_above_the_maximum_raises_the_maximum) {
  const pool three{1};
  EXPECT_TRUE(SetThreadpoolThreadMinimum(three.get(), 3));
  environment where{three};
  occupier busy{where, 3};
  EXPECT_TRUE(busy.held());
}

// Contract 4
TEST_F(pool_limits, a_minimum_above_the_maximum_raises_the_maximum_no_further_than_itself) {
  const pool two{1};
  EXPECT_TRUE(SetThreadpoolThreadMinimum(two.get(), 2));
  environment where{two};
  occupier busy{where, 2};
  ASSERT_TRUE(busy.held());

  std::atomic<int> ran{0};
  work third{[&] { ++ran; }, where};
  third.submit();
  EXPECT_TRUE(leaves_it_queued(two));
  EXPECT_EQ(ran, 0);
  busy.release();
}

// Contract 4
TEST_F(pool_limits, the_threads_of_the_minimum_are_made_at_once_without_any_callback) {
  const pool idle;
  const std::set<thread_number> before = live_threads();
  ASSERT_TRUE(SetThreadpoolThreadMinimum(idle.get(), 4));
  EXPECT_TRUE(eventually([&] {
    std::set<thread_number> made = live_threads();
    std::erase_if(made, [&](thread_number number) { return before.contains(number); });
    return made.size() >= 4;
  }));
}

// Contract 4
TEST_F(pool_limits, idle_threads_leave_and_those_of_the_minimum_stay) {
  const pool two;
  hasten_retirement(two.get());
  ASSERT_TRUE(SetThreadpoolThreadMinimum(two.get(), 2));
  environment where{two};
  const std::set<thread_number> numbers = threads_holding(where, 5);
  ASSERT_EQ(numbers.size(), 5u);

  std::set<thread_number> left;
  EXPECT_TRUE(eventually([&] { return (left = survivors(numbers)).size() <= 2; }));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(threads_holding(where, 2), left);
}

// Contract 4
TEST_F(pool_limits, a_maximum_below_the_minimum_lowers_the_minimum_with_it) {
  const pool one;
  hasten_retirement(one.get());
  ASSERT_TRUE(SetThreadpoolThreadMinimum(one.get(), 4));
  SetThreadpoolThreadMaximum(one.get(), 1);
  SetThreadpoolThreadMaximum(one.get(), 4);
  environment where{one};
  const std::set<thread_number> numbers = threads_holding(where, 4);
  ASSERT_EQ(numbers.size(), 4u);

  // Had the minimum stayed at four, none would leave.
  EXPECT_TRUE(eventually([&] { return survivors(numbers).size() <= 1; }));
}

// Contract 4
TEST_F(pool_limits, a_minimum_of_zero_lets_every_idle_thread_leave_while_no_object_is_left) {
  const pool none;
  hasten_retirement(none.get());
  ASSERT_TRUE(SetThreadpoolThreadMinimum(none.get(), 2));
  ASSERT_TRUE(SetThreadpoolThreadMinimum(none.get(), 0));
  environment where{none};
  const std::set<thread_number> numbers = threads_holding(where, 3);
  EXPECT_TRUE(eventually([&] { return survivors(numbers).empty(); }));

  // A pool without a thread works as before.
  EXPECT_EQ(threads_holding(where, 2).size(), 2u);
}

// Contract 4
TEST_F(pool_limits, a_maximum_of_zero_acts_as_one) {
  const pool one{0};
  environment where{one};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());

  std::atomic<int> ran{0};
  work second{[&] { ++ran; }, where};
  second.submit();
  EXPECT_TRUE(leaves_it_queued(one));
  EXPECT_EQ(ran, 0);

  busy.release();
  second.wait();
  EXPECT_EQ(ran, 1);
}

// Contract 4
TEST_F(pool_limits, a_new_pool_has_a_maximum_of_500_threads) {
  const pool fresh;
  environment where{fresh};
  occupier busy{where, 500};
  ASSERT_TRUE(busy.held());

  std::atomic<int> ran{0};
  work one_more{[&] { ++ran; }, where};
  one_more.submit();
  EXPECT_TRUE(leaves_it_queued(fresh));
  EXPECT_EQ(ran, 0);

  busy.release();
  one_more.wait();
  EXPECT_EQ(ran, 1);
}

// Contract 4
TEST_F(pool_limits, raising_the_maximum_starts_what_is_queued) {
  SKIP_UNDER_WINE("a raised maximum starts queued work only at the next submission");
  const pool growing{1};
  environment where{growing};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());

  gate ran;
  work second{[&] { ran.open(); }, where};
  second.submit();
  SetThreadpoolThreadMaximum(growing.get(), 2);
  EXPECT_TRUE(ran.pass());
  busy.release();
}

// Contract 4
TEST_F(pool_limits, raising_the_minimum_starts_what_is_queued) {
  const pool growing{1};
  environment where{growing};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());

  gate ran;
  work second{[&] { ran.open(); }, where};
  second.submit();
  EXPECT_TRUE(SetThreadpoolThreadMinimum(growing.get(), 2));
  EXPECT_TRUE(ran.pass());
  busy.release();
}

// Contract 4
TEST_F(pool_limits, lowering_the_maximum_leaves_running_callbacks_alone_and_loses_nothing) {
  const pool shrinking{4};
  environment where{shrinking};
  occupier busy{where, 4};
  ASSERT_TRUE(busy.held());

  tally ran;
  work others{[&] { ran.add(); }, where};
  others.submit(20);
  SetThreadpoolThreadMaximum(shrinking.get(), 1);
  busy.release();
  others.wait();
  EXPECT_EQ(ran.count(), 20u);
}

// Contract 4
TEST_F(pool_limits, limits_may_change_while_callbacks_are_submitted) {
  const pool restless;
  environment where{restless};
  tally ran;
  work job{[&] { ran.add(); }, where};
  std::thread changer{[&] {
    for (DWORD i = 0; i != 200; ++i) {
      SetThreadpoolThreadMaximum(restless.get(), 1 + i % 4);
      EXPECT_TRUE(SetThreadpoolThreadMinimum(restless.get(), i % 3));
    }
  }};
  for (int i = 0; i != 2000; ++i) {
    job.submit();
  }
  changer.join();
  job.wait();
  EXPECT_EQ(ran.count(), 2000u);
}

}  // namespace
