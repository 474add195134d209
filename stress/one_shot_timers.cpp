// One-shot timers: chains of re-arms, churn, races between arming, firing and teardown.
#include "stress.hpp"

namespace stress {
namespace {

using tidepool::timer_firing;

class one_shot_timers : public scenario {};

TEST_F(one_shot_timers, that_rearm_themselves_never_overlap) {
  const int firings = scaled(2000);
  constexpr unsigned number = 8;
  struct chain {
    crowd inside;
    std::atomic<int> fired{0};
    std::optional<timer> object;
  };
  std::vector<chain> chains(number);
  tally ended;
  for (chain& each : chains) {
    each.object.emplace([&each, &ended, firings](timer_firing& firing) {
      each.inside.enter();
      const int count = ++each.fired;
      if (count < firings) {
        firing.rearm_after(std::chrono::microseconds{count % 3 * 20});
      }
      each.inside.leave();
      if (count == firings) {
        ended.add();
      }
    });
    each.object->set_after(0us);
  }
  EXPECT_TRUE(ended.reaches(number));
  for (chain& each : chains) {
    each.object->stop_and_drain();
    EXPECT_EQ(each.inside.peak(), 1u);
    EXPECT_EQ(each.fired, firings);
  }
}

TEST_F(one_shot_timers, that_rearm_for_the_past_go_on) {
  const int firings = scaled(20'000);
  std::atomic<int> fired{0};
  tally ended;
  timer object([&](timer_firing& firing) {
    if (++fired < firings) {
      firing.rearm_at(std::chrono::system_clock::now() - 1s);
    } else {
      ended.add();
    }
  });
  object.set_at(std::chrono::system_clock::now() - 1s);
  EXPECT_TRUE(ended.reaches(1));
  object.stop_and_drain();
  EXPECT_EQ(fired, firings);
}

TEST_F(one_shot_timers, can_be_armed_by_eight_threads_at_once) {
  const int times = scaled(5000);
  std::atomic<int> fired{0};
  timer object([&] { ++fired; });
  on_threads(8, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    for (int i = 0; i != times; ++i) {
      object.set_after(random_time(random, 100));
      if (i % 64 == 0) {
        std::this_thread::yield();
      }
    }
  });
  object.set_after(0us);
  while (fired == 0) {
    std::this_thread::yield();
  }
  object.stop_and_drain();
  const int quiet = fired;
  EXPECT_GT(quiet, 0);
  std::this_thread::yield();
  EXPECT_EQ(fired, quiet);
}

TEST_F(one_shot_timers, can_be_armed_and_disarmed_at_once) {
  std::atomic<int> fired{0};
  std::vector<std::unique_ptr<timer>> objects;
  for (int i = 0; i != 16; ++i) {
    objects.push_back(std::make_unique<timer>([&] { ++fired; }));
  }
  on_threads(4, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    int i = 0;
    for (rounds turn(5000); turn.go_on([&] { return fired != 0; }); ++i) {
      timer& object = *objects[random() % objects.size()];
      if (index % 2 == 0) {
        object.set_after(random_time(random, 60));
      } else {
        object.disarm();
      }
      if (i % 16 == 0) {
        spin_for(20us);
      }
    }
  });
  for (const auto& each : objects) {
    each->stop_and_drain();
    EXPECT_FALSE(each->is_set());
  }
  EXPECT_GT(fired, 0);
}

TEST_F(one_shot_timers, fire_once_for_each_arming_that_is_waited_for) {
  const int cycles = scaled(1000);
  on_threads(4, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    tally fired;
    timer object([&] { fired.add(); });
    for (int i = 1; i <= cycles; ++i) {
      object.set_after(random_time(random, 200));
      ASSERT_TRUE(fired.reaches(static_cast<unsigned>(i)));
    }
    object.stop_and_drain();
    EXPECT_EQ(fired.count(), static_cast<unsigned>(cycles));
  });
}

TEST_F(one_shot_timers, all_fire_once_in_a_large_population) {
  const auto number = static_cast<unsigned>(scaled(50'000));
  std::atomic<unsigned> early{0};
  tally fired;
  struct member {
    std::chrono::steady_clock::time_point due;
    std::optional<timer> object;
  };
  std::vector<member> members(number);
  std::minstd_rand random(7);
  for (member& each : members) {
    each.object.emplace([&, &mine = each] {
      early += std::chrono::steady_clock::now() < mine.due ? 1 : 0;
      fired.add();
    });
  }
  for (member& each : members) {
    const auto delay = random_time(random, 300'000);
    each.due = std::chrono::steady_clock::now() + delay;
    each.object->set_after(delay);
  }
  EXPECT_TRUE(fired.reaches(number));
  members.clear();
  EXPECT_EQ(fired.count(), number);
#ifndef _WIN32
  EXPECT_EQ(early, 0u);
#endif
}

TEST_F(one_shot_timers, with_windows_fire_within_them_or_later_but_not_early) {
  const auto number = static_cast<unsigned>(scaled(2000));
  std::atomic<unsigned> early{0};
  tally fired;
  std::vector<std::unique_ptr<timer>> objects;
  std::minstd_rand random(3);
  for (unsigned i = 0; i != number; ++i) {
    const auto delay = random_time(random, 100'000);
    const auto due = std::chrono::steady_clock::now() + delay;
    objects.push_back(std::make_unique<timer>([&, due] {
      early += std::chrono::steady_clock::now() < due ? 1 : 0;
      fired.add();
    }));
    objects.back()->set_after_with_window(delay, std::chrono::milliseconds{random() % 50});
  }
  EXPECT_TRUE(fired.reaches(number));
#ifndef _WIN32
  EXPECT_EQ(early, 0u);
#endif
}

TEST_F(one_shot_timers, survive_what_their_callbacks_throw_and_catch) {
  const int firings = scaled(2000);
  std::atomic<int> fired{0};
  tally ended;
  timer object([&](timer_firing& firing) {
    try {
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
    }
    if (++fired < firings) {
      firing.rearm_after(0us);
    } else {
      ended.add();
    }
  });
  object.set_after(0us);
  EXPECT_TRUE(ended.reaches(1));
}

TEST_F(one_shot_timers, can_be_made_armed_and_destroyed_quickly) {
  std::atomic<int> fired{0};
  on_threads(4, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    int i = 0;
    for (rounds turn(5000); turn.go_on([&] { return fired != 0; }); ++i) {
      timer object([&] { ++fired; });
      object.set_after(random_time(random, 10));
      if (i % 8 == 0) {
        spin_for(15us);
      }
    }
  });
  EXPECT_GT(fired, 0);
}

TEST_F(one_shot_timers, can_be_destroyed_at_any_moment_around_their_due_time) {
  std::atomic<int> fired{0};
  std::atomic<int> alive{0};
  for (rounds turn(50); turn.go_on([&] { return fired != 0; });) {
    for (int offset = -50; offset <= 50; ++offset) {
      {
        ++alive;
        timer object([&fired, guard = std::shared_ptr<void>(nullptr, [&alive](void*) { --alive; })] { ++fired; });
        object.set_after(60us);
        spin_for(std::chrono::microseconds{60 + offset});
      }
      ASSERT_EQ(alive, 0);
    }
  }
  EXPECT_GT(fired, 0);
}

TEST_F(one_shot_timers, can_be_destroyed_inside_a_firing_that_asks_to_be_rearmed) {
  const int rounds = scaled(2000);
  int met = 0;
  for (int round = 0; round != rounds; ++round) {
    std::atomic<int> begun{0};
    {
      timer object([&](timer_firing& firing) {
        ++begun;
        firing.rearm_after(0us);
        spin_for(5us);
      });
      object.set_after(0us);
      while (begun == 0) {
        std::this_thread::yield();
      }
      ++met;
    }
    const int quiet = begun;
    spin_for(2us);
    ASSERT_EQ(begun, quiet);
  }
  EXPECT_EQ(met, rounds);
}

TEST_F(one_shot_timers, can_be_torn_down_by_eight_threads_at_once) {
  std::atomic<int> fired{0};
  for (rounds turn(200); turn.go_on([&] { return fired != 0; });) {
    std::vector<std::unique_ptr<timer>> objects;
    for (int i = 0; i != 64; ++i) {
      objects.push_back(std::make_unique<timer>([&](timer_firing& firing) {
        ++fired;
        firing.rearm_after(1us);
      }));
      objects.back()->set_after(std::chrono::microseconds{i});
    }
    on_threads(8, [&](unsigned index) {
      for (std::size_t i = index; i < objects.size(); i += 8) {
        objects[i].reset();
      }
    });
  }
  EXPECT_GT(fired, 0);
}

TEST_F(one_shot_timers, can_be_drained_by_several_threads_while_they_rearm_and_are_armed) {
  std::atomic<int> fired{0};
  timer object([&](timer_firing& firing) {
    ++fired;
    firing.rearm_after(0us);
  });
  on_threads(4, [&](unsigned index) {
    for (rounds turn(300); turn.go_on([&] { return fired != 0; });) {
      if (index == 0) {
        object.set_after(0us);
        spin_for(10us);
      } else {
        object.stop_and_drain();
        std::this_thread::yield();
      }
    }
  });
  object.stop_and_drain();
  const int quiet = fired;
  spin_for(100us);
  EXPECT_EQ(fired, quiet);
  EXPECT_GT(quiet, 0);
}

}  // namespace
}  // namespace stress
