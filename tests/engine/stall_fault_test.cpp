// The fault that tests give to a pool: it strikes when it should, and never otherwise.
#include <memory>
#include <stdexcept>
#include <vector>

#include "engine/faulty_pool.hpp"
#include "engine/pool.hpp"
#include "engine/wait.hpp"

namespace {

using namespace contract;
using contract::wait;  // not the system call

class stall_faults : public contract_test {};

// ---- what sets it off ----------------------------------------------------------------------------------

TEST_F(stall_faults, strike_when_a_queued_callback_is_cancelled) {
  faulty_pool cold{always};
  wait victim{cold.count, cold.where};
  victim.set(cold.signalled);
  EXPECT_FALSE(cold.stalled());
  victim.cancel();
  EXPECT_TRUE(cold.stalled());
  EXPECT_EQ(cold.ran.count(), 0u);
}

TEST_F(stall_faults, strike_when_a_wait_with_a_queued_callback_is_closed) {
  faulty_pool cold{always};
  wait victim{cold.count, cold.where};
  victim.set(cold.signalled);
  victim.close();
  EXPECT_TRUE(cold.stalled());
}

TEST_F(stall_faults, strike_when_a_group_is_released_that_cancels) {
  faulty_pool cold{always};
  const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
  wait victim{cold.count, environment{cold.where}.group(group)};
  victim.set(cold.signalled);
  victim.disown();
  CloseThreadpoolCleanupGroupMembers(group, TRUE, nullptr);
  EXPECT_TRUE(cold.stalled());
  CloseThreadpoolCleanupGroup(group);
}

TEST_F(stall_faults, strike_when_the_callback_came_by_way_of_the_poller) {
  faulty_pool cold{always};
  const handle event = automatic_event();
  wait by_signal{cold.count, cold.where};
  wait by_time{cold.count, cold.where};
  by_signal.set(event);
  EXPECT_TRUE(SetEvent(event));
  by_time.set(event, relative(1ms));
  EXPECT_TRUE(eventually([&] { return cold.statistics().PortDepth == 2; }));
  by_time.cancel();
  EXPECT_TRUE(cold.stalled());
  by_signal.cancel();
}

TEST_F(stall_faults, strike_although_something_else_is_queued) {
  faulty_pool cold{always};
  wait other{cold.count, cold.where};
  other.set(cold.signalled);
  cold.remove_one();
  EXPECT_TRUE(cold.stalled());
  other.cancel();
}

TEST_F(stall_faults, take_away_what_is_removed) {
  faulty_pool cold{always};
  const std::vector<std::unique_ptr<wait>> waits = [&] {
    std::vector<std::unique_ptr<wait>> made;
    for (int i = 0; i != 3; ++i) {
      made.push_back(std::make_unique<wait>(cold.count, cold.where));
      made.back()->set(cold.signalled);
    }
    return made;
  }();
  EXPECT_EQ(cold.statistics().PortDepth, 3u);
  waits[1]->cancel();  // from the middle, the end and the front
  EXPECT_EQ(cold.statistics().PortDepth, 2u);
  waits[2]->cancel();
  EXPECT_EQ(cold.statistics().PortDepth, 1u);
  waits[1]->set(cold.signalled);
  EXPECT_EQ(cold.statistics().PortDepth, 2u);
  waits[0]->cancel();
  waits[1]->cancel();
  EXPECT_EQ(cold.statistics().PortDepth, 0u);
  EXPECT_EQ(cold.statistics().QueuedCallbacks, 0u);
  EXPECT_EQ(cold.ran.count(), 0u);
}

TEST_F(stall_faults, take_away_what_is_dropped_before_it_is_there) {
  faulty_pool cold{always};
  for (const bool closes : {false, true}) {
    wait victim{cold.count, cold.where};
    _TP_WAIT& its = *victim.get();
    its.state.submit();  // as it is by a signal, which then queues it
    if (closes) {
      victim.close();
    } else {
      victim.cancel();
    }
    cold.its.get()->arrive(its);
    EXPECT_EQ(cold.statistics().PortDepth, 0u);
    EXPECT_FALSE(cold.stalled());
  }
}

// ---- what does not -------------------------------------------------------------------------------------

TEST_F(stall_faults, are_not_in_a_pool_that_was_not_given_one) {
  const pool sound;
  environment where{sound};
  const handle signalled = manual_event(true);
  for (int i = 0; i != repetitions; ++i) {
    wait victim{[] {}, where};
    victim.set(signalled);
    victim.cancel();
    EXPECT_FALSE(has_stalled(sound.get()));
  }
}

TEST_F(stall_faults, do_not_strike_with_a_window_of_nothing) {
  faulty_pool sound{{0ns, 1, 1}};
  sound.remove_one();
  EXPECT_FALSE(sound.stalled());
  wait next{sound.count, sound.where};
  next.set(sound.signalled);
  EXPECT_TRUE(sound.ran.reaches(1));
}

TEST_F(stall_faults, do_not_strike_when_the_window_is_over_and_the_first_thread_is_late) {
  for (int i = 0; i != repetitions; ++i) {
    faulty_pool slow{{1ns, 1, 1}};
    slow.remove_one();
    EXPECT_FALSE(slow.stalled());
  }
}

TEST_F(stall_faults, do_not_strike_with_a_probability_of_zero) {
  faulty_pool slow{never_within};
  for (int i = 0; i != 100; ++i) {
    slow.remove_one();
  }
  EXPECT_FALSE(slow.stalled());
}

TEST_F(stall_faults, do_not_strike_when_callbacks_are_drained) {
  for (int i = 0; i != repetitions; ++i) {
    faulty_pool slow{{1ms, 1, 1}};
    wait drained{slow.count, slow.where};
    drained.set(slow.signalled);
    drained.wait_for_callbacks();
    EXPECT_EQ(slow.ran.count(), 1u);
    slow.remove_one();
    EXPECT_FALSE(slow.stalled());
  }
}

TEST_F(stall_faults, do_not_strike_when_there_was_nothing_to_cancel) {
  faulty_pool cold{always};
  wait idle{cold.count, cold.where};
  idle.cancel();
  const handle event = automatic_event();
  idle.set(event);
  idle.cancel();
  idle.unset();
  idle.close();
  EXPECT_FALSE(cold.stalled());
}

TEST_F(stall_faults, do_not_strike_when_a_timer_or_another_object_is_cancelled) {
  faulty_pool cold{always};
  timer ticks{cold.count, cold.where};
  ticks.set_now();
  EXPECT_EQ(cold.statistics().PortDepth, 1u);
  ticks.cancel();
  EXPECT_EQ(cold.statistics().PortDepth, 0u);
  EXPECT_FALSE(cold.stalled());
}

TEST_F(stall_faults, do_not_strike_in_a_pool_that_has_a_thread) {
  faulty_pool warm{always};
  SetThreadpoolThreadMaximum(warm.its.get(), 1);
  occupier only{warm.where, 1};
  ASSERT_TRUE(only.held());
  warm.remove_one();
  EXPECT_FALSE(warm.stalled());
  wait next{warm.count, warm.where};
  next.set(warm.signalled);
  only.release();
  EXPECT_TRUE(warm.ran.reaches(1));
}

TEST_F(stall_faults, do_not_strike_in_a_pool_that_has_had_a_thread) {
  faulty_pool once_warm{always};
  TidepoolSetPoolIdleTimeout(once_warm.its.get(), 0);
  work first{once_warm.count, once_warm.where};
  first.submit();
  ASSERT_TRUE(eventually([&] { return once_warm.ran.count() == 1 && once_warm.statistics().Threads == 0; }));
  once_warm.remove_one();
  EXPECT_FALSE(once_warm.stalled());
  wait next{once_warm.count, once_warm.where};
  next.set(once_warm.signalled);
  next.wait_for_callbacks();
}

TEST_F(stall_faults, do_not_strike_in_a_pool_with_a_minimum_of_threads) {
  faulty_pool warm{always};
  ASSERT_TRUE(SetThreadpoolThreadMinimum(warm.its.get(), 1));
  warm.remove_one();
  EXPECT_FALSE(warm.stalled());
  wait next{warm.count, warm.where};
  next.set(warm.signalled);
  next.wait_for_callbacks();
}

// ---- chance --------------------------------------------------------------------------------------------

/// How many removals it takes until the pool stalls.
unsigned removals_until_stalled(double probability, std::uint64_t seed) {
  faulty_pool cold{{1h, probability, seed}};
  unsigned count = 0;
  while (!cold.stalled()) {
    cold.remove_one();
    ++count;
  }
  return count;
}

TEST_F(stall_faults, strike_again_in_a_run_that_is_repeated) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(removals_until_stalled(0.1, seed), removals_until_stalled(0.1, seed));
  }
}

TEST_F(stall_faults, strike_as_often_as_asked) {
  unsigned at_once = 0;
  for (std::uint64_t seed = 0; seed != 400; ++seed) {
    at_once += removals_until_stalled(0.25, seed) == 1 ? 1 : 0;
  }
  EXPECT_GT(at_once, 70u);
  EXPECT_LT(at_once, 130u);
}

// ---- giving one ----------------------------------------------------------------------------------------

TEST_F(stall_faults, are_given_once_and_only_to_a_pool_without_a_past) {
  faulty_pool has_one{always};
  EXPECT_THROW(inject_stall_fault(has_one.its.get(), always), std::logic_error);
  const pool used;
  environment where{used};
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}, where));
  EXPECT_THROW(inject_stall_fault(used.get(), always), std::logic_error);
  const pool with_thread{2, 1};
  EXPECT_THROW(inject_stall_fault(with_thread.get(), always), std::logic_error);
}

TEST_F(stall_faults, can_be_given_to_the_default_pool) {
  if (statistics_of(nullptr).CallbacksRun != 0) {
    GTEST_SKIP() << "it has been used by another test of this process";
  }
  inject_stall_fault(nullptr, always);
  const handle signalled = manual_event(true);
  wait victim{[] {}};
  victim.set(signalled);
  victim.cancel();
  EXPECT_TRUE(has_stalled(nullptr));
  ASSERT_TRUE(submit_one_off([](PTP_CALLBACK_INSTANCE) {}));
  EXPECT_FALSE(has_stalled(nullptr));
}

}  // namespace
