// A pool with the fault, seen through snapshots: as such pools look on Windows.
#ifndef _WIN32
#include "faulty_pool.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

using tidepool::pool_snapshot;
using tidepool::wait;

class stalled_pools : public safe_test {};

TEST_F(stalled_pools, look_like_one_with_nothing_to_do_but_for_the_packets) {
  faulty_pool cold(1h);
  const pool_snapshot unused = cold.look();
  wait victim(cold.signalled, [] {}, cold.environment);
  tally ran;
  wait first(cold.signalled, [&] { ran.add(); }, cold.environment);
  wait second(cold.signalled, [&] { ran.add(); }, cold.environment);
  EXPECT_EQ(cold.look(), unused);

  victim.arm();
  EXPECT_EQ(cold.look().port_depth, 1u);
  EXPECT_EQ(cold.look().create_in_progress, true);
  EXPECT_EQ(cold.look().appears_stalled(), false) << "it is merely slow";

  tidepool::unsafe::try_cancel_pending_without_healing(victim);
  EXPECT_EQ(cold.look(), unused) << "nothing gives it away";

  pool_snapshot expected = unused;
  for (std::uint64_t packets = 1; packets != 3; ++packets) {
    (packets == 1 ? first : second).arm();
    expected.port_depth = packets;
    expected.queued_callbacks = packets;
    EXPECT_EQ(cold.look(), expected);
    EXPECT_EQ(cold.look().appears_stalled(), true);
  }
  let_another_pool_work();
  EXPECT_EQ(cold.look(), expected);
  tidepool::work repair([] {}, cold.environment);
  EXPECT_EQ(cold.look(), expected);

  repair.submit();
  EXPECT_TRUE(ran.reaches(2));
  repair.stop_and_drain();
  first.stop_and_drain();
  second.stop_and_drain();
  victim.stop_and_drain();
  EXPECT_EQ(cold.look().port_depth, 0u);
  EXPECT_EQ(cold.look().callbacks_run, 3u);
  EXPECT_EQ(cold.look().appears_stalled(), false);
}

TEST_F(stalled_pools, are_not_what_slow_ones_look_like_at_any_moment) {
  for (int i = 0; i != 200; ++i) {
    faulty_pool slow(100us);
    gate looking;
    std::atomic<bool> done = false;
    std::thread looker([&] {
      while (!done) {
        EXPECT_EQ(slow.look().appears_stalled(), false);
        looking.open();
      }
    });
    wait drained(slow.signalled, [] {}, slow.environment);
    EXPECT_TRUE(looking.pass());
    drained.arm();
    drained.stop_and_drain();
    done = true;
    looker.join();
  }
}

}  // namespace
}  // namespace safe
#endif
