// Periodic timers: ticking, overlap, stopping from inside and outside.
#include "stress.hpp"

namespace stress {
namespace {

using tidepool::periodic_tick;

class periodic_timers : public scenario {};

TEST_F(periodic_timers, tick_on_and_on) {
  const auto ticks = static_cast<unsigned>(scaled(500));
  tally ticked;
  periodic_timer object(1ms, [&] { ticked.add(); });
  object.start();
  EXPECT_TRUE(ticked.reaches(ticks));
  object.stop_and_drain();
  const unsigned quiet = ticked.count();
  spin_for(3ms);
  EXPECT_EQ(ticked.count(), quiet);
}

TEST_F(periodic_timers, let_ticks_overlap) {
  const int rounds = scaled(20);
  for (int round = 0; round != rounds; ++round) {
    crowd inside;
    contract::gate two_inside;
    std::atomic<int> count{0};
    periodic_timer object(1ms, [&] {
      inside.enter();
      if (++count == 2) {
        two_inside.open();
      }
      EXPECT_TRUE(two_inside.pass());
      inside.leave();
    });
    object.start();
    EXPECT_TRUE(two_inside.pass());
    object.stop_and_drain();
    EXPECT_GE(inside.peak(), 2u);
    EXPECT_EQ(inside.inside(), 0u);
  }
}

TEST_F(periodic_timers, can_stop_themselves) {
  const int rounds = scaled(300);
  for (int round = 0; round != rounds; ++round) {
    tally ticked;
    periodic_timer object(1ms, [&](periodic_tick& tick) {
      tick.stop();
      ticked.add();
    });
    object.start();
    ASSERT_TRUE(ticked.reaches(1));
    object.wait_for_callbacks();
    ASSERT_FALSE(object.is_running());
  }
}

TEST_F(periodic_timers, can_be_started_and_stopped_by_many) {
  const int times = scaled(2000);
  std::atomic<int> ticked{0};
  periodic_timer object(1ms, [&] { ++ticked; });
  on_threads(4, [&](unsigned index) {
    for (int i = 0; i != times; ++i) {
      if (index % 2 == 0) {
        object.start();
      } else {
        object.stop();
      }
      if (i % 16 == 0) {
        spin_for(30us);
      }
    }
  });
  object.start();
  while (ticked == 0) {
    std::this_thread::yield();
  }
  object.stop_and_drain();
  EXPECT_FALSE(object.is_running());
}

TEST_F(periodic_timers, can_be_destroyed_while_they_tick) {
  std::atomic<int> ticked{0};
  std::minstd_rand random(1);
  for (rounds turn(300); turn.go_on([&] { return ticked != 0; });) {
    periodic_timer object(1ms, [&] { ++ticked; });
    object.start();
    spin_for(random_time(random, 2500));
  }
  EXPECT_GT(ticked, 0);
}

TEST_F(periodic_timers, can_be_destroyed_inside_a_tick) {
  const int rounds = scaled(300);
  for (int round = 0; round != rounds; ++round) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    {
      periodic_timer object(1ms, [&] {
        ++begun;
        spin_for(50us);
        ++ended;
      });
      object.start();
      while (begun == 0) {
        std::this_thread::yield();
      }
    }
    ASSERT_EQ(begun, ended);
  }
}

TEST_F(periodic_timers, tick_in_a_large_population) {
  const auto number = static_cast<unsigned>(scaled(1000));
  std::vector<tally> ticked(number);
  std::vector<std::unique_ptr<periodic_timer>> objects;
  for (unsigned i = 0; i != number; ++i) {
    objects.push_back(
        std::make_unique<periodic_timer>(std::chrono::milliseconds{10 + i % 20}, [&, i] { ticked[i].add(); }));
    objects.back()->start();
  }
  for (tally& each : ticked) {
    ASSERT_TRUE(each.reaches(3));
  }
}

TEST_F(periodic_timers, refuse_bad_periods_however_often) {
  const int rounds = scaled(5000);
  int refused = 0;
  for (int round = 0; round != rounds; ++round) {
    try {
      const periodic_timer object(std::chrono::milliseconds{-(round % 2)}, [] {});
    } catch (const std::system_error&) {
      ++refused;
    }
  }
  EXPECT_EQ(refused, rounds);
}

}  // namespace
}  // namespace stress
