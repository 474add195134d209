// A pool that has stalled: what does not set it going, and what does.
#include <functional>
#include <string>

#include "contract/blocked_call.hpp"
#include "contract/io_fixtures.hpp"
#include "engine/faulty_pool.hpp"
#include "engine/pool.hpp"

namespace {

using namespace contract;
using contract::wait;  // not the system call

class stalled_pools : public contract_test {};

TEST_F(stalled_pools, leave_waits_and_timers_on_the_port) {
  stalled_pool stuck;
  wait waiting{stuck.count, stuck.where};
  waiting.set(stuck.signalled);
  wait timed{stuck.count, stuck.where};
  const handle unset = manual_event();
  timed.set(unset, relative(1ms));
  timer at_once{stuck.count, stuck.where};
  at_once.set_now();
  timer later{stuck.count, stuck.where};
  later.set_after(1ms);
  EXPECT_TRUE(eventually([&] { return stuck.statistics().PortDepth == 4; }));
  let_another_pool_work();
  const TIDEPOOL_POOL_STATISTICS its = stuck.statistics();
  EXPECT_EQ(its.PortDepth, 4u);
  EXPECT_EQ(its.Threads, 0u);
  EXPECT_EQ(its.StartingThreads, 0u);
  EXPECT_TRUE(its.MayCreate);
  EXPECT_FALSE(its.Scheduled);
  EXPECT_EQ(stuck.ran.count(), 0u);
  EXPECT_TRUE(stuck.stalled());
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, stuck.where));
  EXPECT_TRUE(stuck.ran.reaches(4));
}

TEST_F(stalled_pools, hold_up_whoever_drains) {
  stalled_pool stuck;
  wait waiting{stuck.count, stuck.where};
  waiting.set(stuck.signalled);
  blocked_call drain{[&] { waiting.wait_for_callbacks(); }};
  EXPECT_TRUE(drain.blocks());
  stuck.its.get()->rescue();  // as who waits does every second
  let_another_pool_work();
  EXPECT_EQ(stuck.ran.count(), 0u);
  EXPECT_EQ(stuck.statistics().Threads, 0u);
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, stuck.where));
  EXPECT_TRUE(drain.returns());
}

TEST_F(stalled_pools, stay_so_for_an_armed_timer_a_work_object_and_a_new_maximum) {
  stalled_pool stuck;
  wait waiting{stuck.count, stuck.where};
  waiting.set(stuck.signalled);
  timer armed{stuck.count, stuck.where};
  armed.set_after(far_away);
  const work idle{stuck.count, stuck.where};
  SetThreadpoolThreadMaximum(stuck.its.get(), 7);
  let_another_pool_work();
  EXPECT_TRUE(stuck.stalled());
  EXPECT_EQ(stuck.statistics().Threads, 0u);
  EXPECT_EQ(stuck.ran.count(), 0u);
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, stuck.where));
  EXPECT_TRUE(stuck.ran.reaches(1));
}

TEST_F(stalled_pools, recover_with_any_submission_at_once_and_for_good) {
  const std::function<void(stalled_pool&)> submissions[] = {
      [](stalled_pool& stuck) {
        work repair{[] {}, stuck.where};
        repair.submit();
      },
      [](stalled_pool& stuck) { EXPECT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, stuck.where)); },
      [](stalled_pool& stuck) {
        const ULONGLONG word = 0;
        EXPECT_TRUE(TidepoolTrySubmitClosure([](PTP_CALLBACK_INSTANCE, PVOID) {}, &word, 1, stuck.where));
      },
      [](stalled_pool& stuck) {
        environment in_detail{stuck.where};
        in_detail.finalization([](PTP_CALLBACK_INSTANCE, PVOID) {});
        EXPECT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, in_detail));
      }};
  for (const auto& submit : submissions) {
    stalled_pool stuck;
    wait waiting{stuck.count, stuck.where};
    timer ticks{stuck.count, stuck.where};
    waiting.set(stuck.signalled);
    ticks.set_now();
    submit(stuck);
    EXPECT_FALSE(stuck.stalled());
    EXPECT_TRUE(stuck.ran.reaches(2));
    stuck.remove_one();
    EXPECT_FALSE(stuck.stalled());
  }
}

TEST_F(stalled_pools, recover_when_closed_with_a_submission_of_what_was_there_before) {
  faulty_pool stuck{always};
  stuck.remove_one();
  work before{[] {}, stuck.where};
  wait waiting{stuck.count, stuck.where};
  waiting.set(stuck.signalled);
  stuck.its.close();
  before.submit();
  EXPECT_TRUE(stuck.ran.reaches(1));
}

TEST_F(stalled_pools, can_be_closed) {
  faulty_pool stuck{always};
  const PTP_POOL its = stuck.its.get();
  stuck.remove_one();
  wait waiting{stuck.count, stuck.where};
  timer ticks{stuck.count, stuck.where};
  waiting.set(stuck.signalled);
  ticks.set_now();
  stuck.its.close();
  EXPECT_TRUE(has_stalled(its));
  waiting.close();
  EXPECT_TRUE(is_listed(its));
  ticks.close();
  EXPECT_FALSE(is_listed(its));
  EXPECT_EQ(stuck.ran.count(), 0u);
}

class io_stalled_pools : public io_test {};

TEST_F(io_stalled_pools, leave_completions_on_the_port) {
  stalled_pool stuck;
  io_pipe channel;
  request its{"text"};
  io writes{channel.writer(), stuck.count, stuck.where};
  ASSERT_TRUE(under_way(writes.start_write(channel.writer(), its)));
  EXPECT_TRUE(eventually([&] { return stuck.statistics().PortDepth == 1; }));
  let_another_pool_work();
  EXPECT_EQ(stuck.statistics().Threads, 0u);
  EXPECT_EQ(stuck.ran.count(), 0u);
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, stuck.where));
  EXPECT_TRUE(stuck.ran.reaches(1));
}

TEST_F(io_stalled_pools, leave_requests_on_files_and_what_comes_through_the_poller_on_the_port) {
  stalled_pool stuck;
  io_pipe channel;
  request its{4};
  io reads{channel.reader(), stuck.count, stuck.where};
  ASSERT_EQ(reads.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  const temporary_folder folder;
  const handle file{CreateFileA(folder.file("file", "content").c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING,
                                FILE_FLAG_OVERLAPPED, nullptr)};
  request content{7};
  io from_file{file, stuck.count, stuck.where};
  ASSERT_TRUE(under_way(from_file.start_read(file, content)));
  {
    request text{"text"};
    io writes{channel.writer(), [] {}};
    ASSERT_TRUE(under_way(writes.start_write(channel.writer(), text)));
  }
  EXPECT_TRUE(eventually([&] { return stuck.statistics().PortDepth == 2; }));
  let_another_pool_work();
  EXPECT_EQ(stuck.statistics().Threads, 0u);
  EXPECT_EQ(stuck.ran.count(), 0u);
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, stuck.where));
  EXPECT_TRUE(stuck.ran.reaches(2));
}

}  // namespace
