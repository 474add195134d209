// A pool with the fault, from beginning to end: stalled by a cancellation, and healed.
#ifndef _WIN32
#include <optional>

#include "faulty_pool.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

namespace safe {
namespace {

using namespace std::chrono_literals;

using tidepool::callback_environment;
using tidepool::engine::inject_stall_fault;

class healed_pools : public safe_test, protected faulty_pool {
 protected:
  healed_pools() : faulty_pool(1h) {}

  tally ran;
};

// stalled_pools.* show that without the repair nothing does.
TEST_F(healed_pools, run_what_comes_after_a_cancellation) {
  wait victim(signalled, [] {}, environment);
  wait later(signalled, [&] { ran.add(); }, environment);
  timer at_once([&] { ran.add(); }, environment);
  victim.arm();
  victim.try_cancel_pending();
  later.arm();
  at_once.set_after(0s);
  EXPECT_TRUE(ran.reaches(2));
}

TEST_F(healed_pools, run_what_came_before_a_cancellation) {
  wait victim(signalled, [] {}, environment);
  wait earlier(signalled, [&] { ran.add(); }, environment);
  earlier.arm();
  victim.arm();
  victim.try_cancel_pending();
  EXPECT_TRUE(ran.reaches(1));
}

TEST_F(healed_pools, let_the_drains_end_that_wait_for_them) {
  wait victim(signalled, [] {}, environment);
  std::optional<wait> drained(std::in_place, signalled, [&] { ran.add(); }, environment);
  victim.arm();
  victim.try_cancel_pending();
  drained->arm();
  drained.reset();
  EXPECT_EQ(ran.count(), 1u);
}

TEST_F(healed_pools, were_stalled_by_a_member_or_by_the_closing_of_a_group) {
  for (const bool by_closing : {false, true}) {
    const faulty_pool another(1h);
    tidepool::cleanup_group group;
    const auto victim = group.create_wait(signalled, [] {}, another.environment);
    wait later(signalled, [&] { ran.add(); }, another.environment);
    victim.arm();
    if (by_closing) {
      group.close_members(true);
    } else {
      victim.try_cancel_pending();
    }
    later.arm();
    EXPECT_TRUE(ran.reaches(by_closing ? 2 : 1));
    group.close_members(true);
  }
}

// The one who has stalled the pool is gone when somebody comes who would hang.
TEST_F(healed_pools, need_not_have_the_wait_any_more_that_stalled_them) {
  {
    wait victim(signalled, [] {}, environment);
    victim.arm();
    victim.try_cancel_pending();
  }
  wait later(signalled, [&] { ran.add(); }, environment);
  later.arm();
  EXPECT_TRUE(ran.reaches(1));
}

TEST_F(healed_pools, need_not_be_owned_by_the_library) {
  const PTP_POOL foreign = CreateThreadpool(nullptr);
  inject_stall_fault(foreign, {1h, 1, 1});
  callback_environment where;
  tidepool::unsafe::set_pool(where, foreign);
  {
    wait later(signalled, [&] { ran.add(); }, where);
    std::optional<wait> victim(std::in_place, signalled, [] {}, where);
    victim->arm();
    victim->try_cancel_pending();
    victim.reset();
    later.arm();
    EXPECT_TRUE(ran.reaches(1));
  }
  CloseThreadpool(foreign);
}

}  // namespace
}  // namespace safe

#endif
#endif
