// The pools of the process, as the engine lists them.
#include <tidepool/win32/tpextensions.h>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

std::vector<TIDEPOOL_POOL_STATISTICS> all_pools() {
  std::vector<TIDEPOOL_POOL_STATISTICS> pools(TidepoolQueryPools(nullptr, 0));
  pools.resize(std::min<std::size_t>(pools.size(), TidepoolQueryPools(pools.data(), static_cast<DWORD>(pools.size()))));
  return pools;
}

std::ptrdiff_t count_of(TIDEPOOL_POOL_KIND kind) {
  const auto pools = all_pools();
  return std::count_if(pools.begin(), pools.end(), [kind](const auto& each) { return each.Kind == kind; });
}

class pool_lists : public contract_test {};

TEST_F(pool_lists, have_the_default_pool_also_before_it_is_used) {
  const auto pools = all_pools();
  ASSERT_FALSE(pools.empty());
  EXPECT_EQ(pools.front().Kind, TidepoolDefaultPool);
  EXPECT_EQ(pools.front().Threads, 0u);
  EXPECT_EQ(count_of(TidepoolDefaultPool), 1);
}

TEST_F(pool_lists, have_the_newest_pool_of_the_others_first) {
  const pool first;
  const pool second;
  const auto pools = all_pools();
  ASSERT_EQ(pools.size(), 3u);
  EXPECT_EQ(pools[1].Pool, second.get());
  EXPECT_EQ(pools[2].Pool, first.get());
  EXPECT_EQ(pools[2].Kind, TidepoolPrivatePool);
}

TEST_F(pool_lists, are_cut_off_where_there_is_no_more_room) {
  const pool first;
  const pool second;
  std::vector<TIDEPOOL_POOL_STATISTICS> room(2);
  room[1].Threads = 77;
  EXPECT_EQ(TidepoolQueryPools(room.data(), 1), 3u);
  EXPECT_EQ(room[1].Threads, 77u);
}

TEST_F(pool_lists, have_a_closed_pool_until_its_callbacks_have_run) {
  pool closed{1};
  const PTP_POOL its = closed.get();
  const auto is_listed = [its] {
    const auto pools = all_pools();
    return std::any_of(pools.begin(), pools.end(), [its](const auto& each) { return each.Pool == its; });
  };
  gate release;
  tally inside;
  environment where{closed};
  submit_one_off(
      [&](PTP_CALLBACK_INSTANCE) {
        inside.add();
        EXPECT_TRUE(release.pass());
      },
      where);
  ASSERT_TRUE(inside.reaches(1));
  closed.close();
  EXPECT_TRUE(is_listed());
  release.open();
  EXPECT_TRUE(eventually([&] { return !is_listed(); }));
}

TEST_F(pool_lists, count_entries_of_the_port_and_callbacks_apart) {
  const pool one{1};
  environment where{one};
  work waiting{[] {}, where};
  occupier only{where, 1};
  ASSERT_TRUE(only.held());
  waiting.submit(5);
  TIDEPOOL_POOL_STATISTICS its;
  TidepoolQueryPoolStatistics(one.get(), &its);
  EXPECT_EQ(its.PortDepth, 1u);
  EXPECT_EQ(its.QueuedCallbacks, 5u);
}

TEST_F(pool_lists, see_a_thread_that_starts_where_another_has_ended) {
  const pool one{1};
  TidepoolSetPoolIdleTimeout(one.get(), 0);
  environment where{one};
  const auto now = [&one] {
    TIDEPOOL_POOL_STATISTICS its;
    TidepoolQueryPoolStatistics(one.get(), &its);
    return its;
  };
  const auto make_one_and_let_it_leave = [&] {
    tally ran;
    submit_one_off([&ran](PTP_CALLBACK_INSTANCE) { ran.add(); }, where);
    EXPECT_TRUE(ran.reaches(1));
    EXPECT_TRUE(eventually([&] { return now().Threads == 0; }));
  };
  make_one_and_let_it_leave();
  // Starting takes some ten microseconds, so it is done again and again, and somebody looks all the time.
  std::atomic<bool> seen{false};
  std::atomic<bool> patient{true};
  std::thread maker{[&] {
    while (!seen && patient) {
      make_one_and_let_it_leave();
    }
  }};
  EXPECT_TRUE(eventually_without_sleep([&] {
    seen = now().StartingThreads == 1;
    return seen.load();
  }));
  patient = false;
  maker.join();
  EXPECT_EQ(now().StartingThreads, 0u);
}

// ---- the pool for requests that block ------------------------------------------------------------------

class io_pool_lists : public io_test {};

TEST_F(io_pool_lists, have_the_pool_for_requests_that_block_once_there_was_one) {
  EXPECT_EQ(count_of(TidepoolFilePool), 0);
  const temporary_folder folder;
  const handle file{TidepoolOpenDescriptor(open(folder.file("file", "content").c_str(), O_RDONLY | O_CLOEXEC))};
  recorded_io io{file};
  request its{7};
  EXPECT_EQ(io.read(file, its), success(7));
  const char* const asked = std::getenv("TIDEPOOL_IO");
  if (asked == nullptr) {
    GTEST_SKIP() << "whether it blocks is the kernel's choice";
  }
  EXPECT_EQ(count_of(TidepoolFilePool), TidepoolIoPath() == TidepoolIoPortable ? 1 : 0);
}

}  // namespace
