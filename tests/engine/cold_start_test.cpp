// The time until the first thread of a pool with the fault, and how it ends.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "contract/objects.hpp"
#include "engine/faulty_pool.hpp"

namespace {

using namespace contract;
using contract::wait;  // not the system call

class cold_starts : public contract_test {};

TEST_F(cold_starts, let_the_first_thread_take_its_time) {
  faulty_pool slow{always};
  EXPECT_EQ(slow.statistics().StartingThreads, 0u);
  wait waiting{slow.count, slow.where};
  waiting.set(slow.signalled);
  let_another_pool_work();
  const TIDEPOOL_POOL_STATISTICS its = slow.statistics();
  EXPECT_EQ(its.PortDepth, 1u);
  EXPECT_EQ(its.Threads, 1u);
  EXPECT_EQ(its.IdleThreads, 1u);
  EXPECT_EQ(its.StartingThreads, 1u);
  EXPECT_TRUE(its.MayCreate);
  EXPECT_TRUE(its.Scheduled);
  EXPECT_EQ(slow.ran.count(), 0u);
  waiting.cancel();
}

TEST_F(cold_starts, let_it_take_no_longer) {
  faulty_pool slow{{20ms, 0, 1}};
  const auto before = std::chrono::steady_clock::now();
  wait waiting{slow.count, slow.where};
  waiting.set(slow.signalled);
  EXPECT_TRUE(slow.ran.reaches(1));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
  EXPECT_FALSE(slow.stalled());
}

TEST_F(cold_starts, let_it_be_made_at_once_when_something_is_submitted) {
  faulty_pool slow{always};
  SetThreadpoolThreadMaximum(slow.its.get(), 1);
  wait waiting{slow.count, slow.where};
  waiting.set(slow.signalled);
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { slow.ran.add(); }, slow.where));
  EXPECT_TRUE(slow.ran.reaches(2));
  occupier only_thread{slow.where, 1};  // or it might still be awake, and run what is to be removed
  ASSERT_TRUE(only_thread.held());
  slow.remove_one();
  EXPECT_FALSE(slow.stalled());
}

TEST_F(cold_starts, let_it_take_as_long_once_more_when_there_was_nothing_left_to_make_it_for) {
  faulty_pool slow{{20ms, 0, 1}};
  TidepoolSetPoolIdleTimeout(slow.its.get(), 0);  // should the removal come too late
  for (int i = 0; i != 5; ++i) {
    slow.remove_one();
    EXPECT_TRUE(eventually([&] { return slow.statistics().Threads == 0; }));
  }
  tally ran;
  wait waiting{[&] { ran.add(); }, slow.where};
  waiting.set(slow.signalled);
  EXPECT_TRUE(ran.reaches(1));
}

TEST_F(cold_starts, give_an_armed_timer_no_thread_of_the_pool) {
  faulty_pool cold{always};
  timer armed{cold.count, cold.where};
  armed.set_after(far_away);
  EXPECT_EQ(cold.statistics().Threads, 0u);
  cold.remove_one();
  EXPECT_TRUE(cold.stalled());
}

/// The threads that wait until a first thread is due.
std::size_t makers() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{task.path() / "comm"};  // gone by now, perhaps
    std::string name;
    count += std::getline(file, name) && name == "tidepool-maker" ? 1 : 0;
  }
  return count;
}

TEST_F(cold_starts, let_a_pool_be_closed_while_its_first_thread_is_made) {
  std::optional<faulty_pool> slow{never_within};
  const PTP_POOL its = slow->its.get();
  slow->remove_one();
  EXPECT_TRUE(eventually([] { return makers() == 1; }));
  EXPECT_TRUE(is_listed(its));
  slow.reset();
  EXPECT_FALSE(is_listed(its));
  EXPECT_TRUE(eventually([] { return makers() == 0; }));
}

TEST_F(cold_starts, let_a_closed_pool_run_what_it_has) {
  faulty_pool slow{{1ms, 1, 1}};
  const PTP_POOL its = slow.its.get();
  {
    wait waiting{slow.count, slow.where};
    waiting.set(slow.signalled);
    slow.its.close();
  }
  EXPECT_EQ(slow.ran.count(), 1u);
  EXPECT_TRUE(eventually([&] { return !is_listed(its); }));
}

/// What is going on at the same time in each round of the race below.
struct race {
  explicit race(const stall_fault& fault) : cold{fault} {}

  /// A wait is torn down, as it is by who cancels; nothing of it is left after.
  static void tear_down(wait& what) {
    what.unset();
    what.cancel();
  }

  faulty_pool cold;
  handle event = automatic_event();
  wait victim{cold.count, cold.where};
  wait other{cold.count, cold.where};
};

TEST_F(cold_starts, lose_nothing_when_signals_race_with_a_cancellation_and_a_submission) {
  for (int i = 0; i != repetitions; ++i) {
    const bool submits = i % 2 == 0;
    std::optional<race> its{std::in_place, stall_fault{i % 3 == 0 ? 50us : 1h, 0.5, 1}};
    const PTP_POOL pool = its->cold.its.get();
    its->victim.set(its->event);
    its->other.set(its->event);
    tally submitted;
    together(submits ? 4 : 3, [&](unsigned who) {
      switch (who) {
        case 0:
        case 1: SetEvent(its->event); break;
        case 2: race::tear_down(its->victim); break;
        default: submit_one_off([&](PTP_CALLBACK_INSTANCE) { submitted.add(); }, its->cold.where);
      }
    });
    if (submits) {
      EXPECT_TRUE(submitted.reaches(1));
      its->other.unset();
      its->other.wait_for_callbacks();
    } else {
      race::tear_down(its->other);
      EXPECT_TRUE(eventually([&] { return its->cold.statistics().PortDepth == 0; }));
    }
    its.reset();
    EXPECT_TRUE(eventually([pool] { return !is_listed(pool); }));
  }
}

}  // namespace
