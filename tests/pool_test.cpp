// Pools: their settings, their growth, and their life.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "safe.hpp"
#ifndef _WIN32
#include "tidepool/win32/tpextensions.h"
#endif

namespace safe {
namespace {

using tidepool::callback_environment;

class pools : public safe_test {};

TEST_F(pools, run_no_more_callbacks_at_once_than_their_maximum) {
  const private_pool pool(2);
  crowd inside;
  tally ran;
  gate release;
  {
    std::vector<work> works;
    for (int i = 0; i != 6; ++i) {
      works.emplace_back(
          [&] {
            inside.enter();
            ran.add();
            EXPECT_TRUE(release.pass());
            inside.leave();
          },
          pool.environment);
      works.back().submit();
    }
    EXPECT_TRUE(ran.reaches(2));
    let_another_pool_work();
    EXPECT_EQ(ran.count(), 2u);
    release.open();
  }
  EXPECT_EQ(ran.count(), 6u);
  EXPECT_EQ(inside.peak(), 2u);
}

TEST_F(pools, take_a_maximum_of_zero_for_one) {
  const private_pool pool(0);
  crowd inside;
  {
    std::vector<work> works;
    for (int i = 0; i != 4; ++i) {
      works.emplace_back(
          [&] {
            inside.enter();
            inside.leave();
          },
          pool.environment);
      works.back().submit();
    }
  }
  EXPECT_EQ(inside.peak(), 1u);
}

TEST_F(pools, start_the_threads_of_their_minimum_at_once) {
  const auto before = live_threads();
  tidepool::pool pool;
  pool.set_min_threads(3);
  // Others may be leaving, so those that have come are counted.
  EXPECT_TRUE(eventually([&] {
    const auto now = live_threads();
    return std::count_if(now.begin(), now.end(), [&](auto each) { return !before.contains(each); }) >= 3;
  }));
#ifndef _WIN32
  EXPECT_EQ(pool.statistics().threads, 3u);
#endif
}

TEST_F(pools, hand_back_the_stack_size_that_was_set) {
  tidepool::pool pool;
  const tidepool::stack_size size{256 * 1024, 64 * 1024};
  pool.set_stack_size(size);
  EXPECT_EQ(pool.get_stack_size(), size);
}

TEST_F(pools, keep_their_settings_when_they_are_moved) {
  tidepool::pool original;
  original.set_max_threads(1);
  const PTP_POOL native = tidepool::unsafe::native_handle(original);
  tidepool::pool moved = std::move(original);
  EXPECT_EQ(tidepool::unsafe::native_handle(moved), native);
  EXPECT_EQ(tidepool::unsafe::native_handle(original), nullptr);
  original = std::move(moved);
  EXPECT_EQ(tidepool::unsafe::native_handle(original), native);
  original = tidepool::pool();
  original.set_max_threads(1);
}

// ---- statistics ----------------------------------------------------------------------------------------

#ifdef _WIN32

TEST_F(pools, say_that_windows_does_not_tell_what_they_do) {
  const tidepool::pool pool;
  for (const tidepool::pool_statistics& statistics : {pool.statistics(), tidepool::pool::default_pool_statistics()}) {
    EXPECT_FALSE(statistics.threads.has_value());
    EXPECT_FALSE(statistics.idle_threads.has_value());
    EXPECT_FALSE(statistics.queued_callbacks.has_value());
    EXPECT_FALSE(statistics.callbacks_run.has_value());
  }
}

#else

TEST_F(pools, tell_what_they_do) {
  private_pool pool(1);
  EXPECT_EQ(pool.pool.statistics().threads, 0u);
  EXPECT_EQ(pool.pool.statistics().idle_threads, 0u);
  EXPECT_EQ(pool.pool.statistics().queued_callbacks, 0u);
  EXPECT_EQ(pool.pool.statistics().callbacks_run, 0u);

  work work([] {}, pool.environment);
  {
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    work.submit();
    work.submit();
    tidepool::submit([] {}, pool.environment);
    EXPECT_EQ(pool.pool.statistics().threads, 1u);
    EXPECT_EQ(pool.pool.statistics().idle_threads, 0u);
    EXPECT_EQ(pool.pool.statistics().queued_callbacks, 3u);
    EXPECT_EQ(pool.pool.statistics().callbacks_run, 0u);
  }
  work.stop_and_drain();
  EXPECT_TRUE(eventually([&] { return pool.pool.statistics().callbacks_run == 4; }));
  EXPECT_TRUE(eventually([&] { return pool.pool.statistics().idle_threads == 1; }));
  EXPECT_EQ(pool.pool.statistics().queued_callbacks, 0u);
  EXPECT_EQ(pool.pool.statistics().threads, 1u);
}

TEST_F(pools, include_the_default_one_in_what_they_tell) {
  const auto run_before = tidepool::pool::default_pool_statistics().callbacks_run.value();
  {
    occupier one({});
    ASSERT_TRUE(one.held());
    const tidepool::pool_statistics during = tidepool::pool::default_pool_statistics();
    EXPECT_GE(during.threads.value(), 1u);
    EXPECT_LT(during.idle_threads.value(), during.threads.value());
  }
  EXPECT_TRUE(eventually([&] { return tidepool::pool::default_pool_statistics().callbacks_run > run_before; }));
}

#endif

// ---- growing and shrinking -------------------------------------------------------------------------------

/// Starts `blockers` callbacks that block until one more has run. Each is an object of its own.
void block_until_one_more_runs(const callback_environment& environment, unsigned blockers) {
  gate last_ran;
  tally through;
  std::vector<work> works;
  for (unsigned i = 0; i != blockers; ++i) {
    works.emplace_back(
        [&] {
          EXPECT_TRUE(last_ran.pass());
          through.add();
        },
        environment);
    works.back().submit();
  }
  work last([&] { last_ran.open(); }, environment);
  last.submit();
  EXPECT_TRUE(through.reaches(blockers));
}

TEST_F(pools, grow_while_callbacks_block_the_default_one_too) { block_until_one_more_runs({}, 64); }

TEST_F(pools, grow_while_callbacks_block_up_to_their_maximum) {
  const private_pool pool(65);
  block_until_one_more_runs(pool.environment, 64);
}

TEST_F(pools, grow_for_submissions_of_one_object_and_for_one_offs_alike) {
  SKIP_UNDER_WINE("a burst of submissions of one object gets two threads");
  gate last_ran;
  tally through;
  const auto block = [&] {
    EXPECT_TRUE(last_ran.pass());
    through.add();
  };
  work work(block);
  for (int i = 0; i != 32; ++i) {
    work.submit();
    tidepool::submit(block);
  }
  tidepool::submit([&] { last_ran.open(); });
  EXPECT_TRUE(through.reaches(64));
}

/// The threads that `pool` has made: runs callbacks in it that all need one at once.
std::set<contract::thread_number> threads_of(const callback_environment& environment, unsigned number) {
  std::mutex mutex;
  std::set<contract::thread_number> threads;
  tally inside;
  gate release;
  std::vector<work> works;
  for (unsigned i = 0; i != number; ++i) {
    works.emplace_back(
        [&] {
          {
            const std::lock_guard lock(mutex);
            threads.insert(this_thread());
          }
          inside.add();
          EXPECT_TRUE(release.pass());
        },
        environment);
    works.back().submit();
  }
  EXPECT_TRUE(inside.reaches(number));
  release.open();
  works.clear();
  EXPECT_EQ(threads.size(), number);
  return threads;
}

TEST_F(pools, hold_no_threads_when_they_have_been_idle_for_their_time) {
  const private_pool pool(3);
  contract::hasten_retirement(tidepool::unsafe::native_handle(pool.pool));
  const auto threads = threads_of(pool.environment, 3);
  EXPECT_TRUE(eventually([&] { return survivors(threads).empty(); }));
}

TEST_F(pools, keep_the_threads_of_their_minimum_when_idle) {
  private_pool pool(3);
  pool.pool.set_min_threads(1);
  contract::hasten_retirement(tidepool::unsafe::native_handle(pool.pool));
  const auto threads = threads_of(pool.environment, 3);
  EXPECT_TRUE(eventually([&] { return survivors(threads).size() <= 1; }));
  const private_pool other(1);  // gives a thread that wrongly leaves the time to do it
  contract::hasten_retirement(tidepool::unsafe::native_handle(other.pool));
  const auto others = threads_of(other.environment, 1);
  EXPECT_TRUE(eventually([&] { return survivors(others).empty(); }));
  EXPECT_EQ(survivors(threads).size(), 1u);
}

TEST_F(pools, hold_no_threads_when_idle_even_the_default_one) {
  contract::hasten_retirement(nullptr);
  const auto threads = threads_of({}, 4);
  EXPECT_TRUE(eventually([&] { return survivors(threads).empty(); }));
#ifndef _WIN32
  TidepoolSetPoolIdleTimeout(nullptr, 5000);  // as it was
#endif
}

// ---- life ----------------------------------------------------------------------------------------------

TEST_F(pools, environments_and_work_can_be_destroyed_in_any_order) {
  std::array<int, 3> order{0, 1, 2};
  do {
    std::optional<tidepool::pool> pool(std::in_place);
    std::optional<callback_environment> environment(std::in_place);
    tally ran;
    environment->set_pool(*pool);
    std::optional<work> work(std::in_place, [&] { ran.add(); }, *environment);
    for (int i = 0; i != 100; ++i) {
      work->submit();
    }
    const std::array<std::function<void()>, 3> destroy{[&] { pool.reset(); }, [&] { environment.reset(); },
                                                       [&] { work.reset(); }};
    for (const int each : order) {
      destroy.at(static_cast<std::size_t>(each))();
    }
    EXPECT_EQ(ran.count(), 100u);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(pools, live_on_in_the_work_made_on_them) {
  std::optional<private_pool> pool(1);
  tally ran;
  work work([&] { ran.add(); }, pool->environment);
  pool.reset();
  for (unsigned i = 1; i <= 10; ++i) {
    work.submit();
    work.stop_and_drain();
    EXPECT_EQ(ran.count(), i);
  }
}

TEST_F(pools, live_until_their_one_offs_have_run) {
  tally ran;
  gate release;
  {
    const private_pool pool(1);
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    for (int i = 0; i != 100; ++i) {
      tidepool::submit([&ran] { ran.add(); }, pool.environment);
      tidepool::submit([&ran, text = std::string(100, 'x')] { ran.add(); }, pool.environment);
    }
    only_thread.release();
  }
  EXPECT_TRUE(ran.reaches(200));
}

TEST_F(pools, may_end_inside_their_own_callbacks) {
  for (int i = 0; i != 50; ++i) {
    auto pool = std::make_unique<private_pool>(2);
    const callback_environment environment = pool->environment;
    tally ended;
    tidepool::submit(
        [&ended, pool = std::move(pool)]() mutable {
          pool.reset();
          ended.add();
        },
        environment);
    EXPECT_TRUE(ended.reaches(1));
  }
}

TEST_F(pools, may_end_with_the_last_environment_inside_their_own_callback) {
  for (int i = 0; i != 50; ++i) {
    const auto ended = std::make_shared<tally>();
    std::optional<private_pool> pool(1);
    auto environment = std::make_unique<callback_environment>(pool->environment);
    const callback_environment& where = *environment;
    gate pool_gone;
    tidepool::submit(
        [&pool_gone, ended, environment = std::move(environment)]() mutable {
          EXPECT_TRUE(pool_gone.pass());
          environment.reset();
          ended->add();
        },
        where);
    pool.reset();
    pool_gone.open();
    EXPECT_TRUE(ended->reaches(1));
  }
}

#ifndef _WIN32  // which does not tell
TEST_F(pools, are_warm_when_the_default_one_has_been_warmed) {
  const auto run_before = tidepool::pool::default_pool_statistics().callbacks_run.value();
  tidepool::prewarm_default_pool();
  EXPECT_GE(tidepool::pool::default_pool_statistics().threads, 1u);
  EXPECT_TRUE(eventually([&] { return tidepool::pool::default_pool_statistics().callbacks_run > run_before; }));
}
#endif

TEST_F(pools, can_be_warmed_by_several_and_by_callbacks) {
  tally warm;
  work object([&] {
    tidepool::prewarm_default_pool();
    warm.add();
  });
  object.submit();
  object.submit();
  tidepool::prewarm_default_pool();
  EXPECT_TRUE(warm.reaches(2));
}

TEST_F(pools, come_and_go_in_numbers) {
  tally ran;
  for (int i = 0; i != 300; ++i) {
    const private_pool pool(2);
    work work([&] { ran.add(); }, pool.environment);
    work.submit();
    tidepool::submit([&] { ran.add(); }, pool.environment);
  }
  EXPECT_TRUE(ran.reaches(600));
}

}  // namespace
}  // namespace safe
