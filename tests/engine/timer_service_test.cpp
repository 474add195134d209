// The timers, on clocks that the test sets.
#include "engine/timer_service.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "contract/fixtures.hpp"

namespace {

using namespace tidepool::engine;

constexpr auto monotonic = clock_kind::monotonic;
constexpr auto wall = clock_kind::wall;
constexpr std::uint64_t second = 1'000'000'000;

class clocks final : public alarm_clock {
 public:
  [[nodiscard]] std::uint64_t now(clock_kind of) const noexcept override { return at(of).now; }
  void set(clock_kind of, std::uint64_t moment) noexcept override {
    at(of).alarm = moment;
    ++settings;
  }
  void begin(clock_kind of) noexcept override { EXPECT_EQ(at(of).begun++, 0); }
  void end(clock_kind of) noexcept override { EXPECT_EQ(--at(of).begun, 0); }

  struct clock {
    std::uint64_t now = 100 * second;
    std::uint64_t alarm = timer_wheel::never;
    int begun = 0;
  };
  clock& at(clock_kind of) { return clocks_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] const clock& at(clock_kind of) const { return clocks_[static_cast<std::size_t>(of)]; }

  int settings = 0;

 private:
  std::array<clock, clock_count> clocks_;
};

struct counted_action : timed_action {
  counted_action() : timed_action(&count) {}
  static std::uint64_t count(timed_action& action, std::uint64_t now, deferred_actions&) noexcept {
    auto& self = static_cast<counted_action&>(action);
    ++self.times;
    self.came_at = now;
    return self.period == 0 ? timer_wheel::never : now + self.period;
  }
  int times = 0;
  std::uint64_t came_at = 0;
  std::uint64_t period = 0;
};

class timer_service_test : public contract::contract_test {
 protected:
  /// Moves a clock, and answers its alarm as often as it goes off on the way. Returns how often that was.
  int move(clock_kind of, std::uint64_t to) {
    clocks::clock& clock = clocks_.at(of);
    int alarms = 0;
    while (clock.alarm <= to) {
      clock.now = std::max(clock.now, clock.alarm);
      clock.alarm = timer_wheel::never;
      answer(of);
      ++alarms;
    }
    clock.now = to;
    return alarms;
  }

  void answer(clock_kind of) {
    deferred_actions later;
    timers_.expire(of, later);
    later.run_all();
  }

  std::uint64_t now(clock_kind of) { return clocks_.at(of).now; }

  clocks clocks_;
  timer_service timers_{clocks_};
};

TEST_F(timer_service_test, lets_an_action_come_at_its_moment_and_not_a_nanosecond_before) {
  counted_action action;
  timers_.arm_after(action, 5 * second);
  move(monotonic, 105 * second - 1);
  answer(monotonic);  // asked too early
  EXPECT_EQ(action.times, 0);
  move(monotonic, 105 * second);
  EXPECT_EQ(action.times, 1);
  EXPECT_EQ(action.came_at, 105 * second);
}

TEST_F(timer_service_test, an_absolute_action_follows_the_wall_clock_forward) {
  counted_action action;
  timers_.arm(action, wall, 200 * second);
  EXPECT_EQ(move(monotonic, 1000 * second), 0);  // time alone does not bring it
  EXPECT_EQ(action.times, 0);
  clocks_.at(wall).now = 300 * second;  // set
  answer(wall);                         // as the system's alarm does when its moment has been skipped
  EXPECT_EQ(action.times, 1);
}

TEST_F(timer_service_test, an_absolute_action_follows_the_wall_clock_back) {
  counted_action first;
  counted_action second_one;
  timers_.arm(first, wall, 200 * second);
  move(wall, 199 * second);
  clocks_.at(wall).now = 50 * second;  // set back
  timers_.arm(second_one, wall, 60 * second);
  EXPECT_EQ(clocks_.at(wall).alarm, 60 * second);
  move(wall, 60 * second - 1);
  EXPECT_EQ(second_one.times, 0);
  move(wall, 60 * second);
  EXPECT_EQ(second_one.times, 1);
  move(wall, 200 * second - 1);
  EXPECT_EQ(first.times, 0);
  move(wall, 200 * second);
  EXPECT_EQ(first.times, 1);
}

TEST_F(timer_service_test, a_relative_action_does_not_follow_the_wall_clock) {
  counted_action action;
  timers_.arm_after(action, 5 * second);
  clocks_.at(wall).now = 1000 * second;
  answer(wall);
  EXPECT_EQ(action.times, 0);
  clocks_.at(wall).now = 1;
  answer(wall);
  move(monotonic, 105 * second);
  EXPECT_EQ(action.times, 1);
}

TEST_F(timer_service_test, a_disarmed_action_does_not_come) {
  counted_action action;
  EXPECT_FALSE(timers_.disarm(action));
  timers_.arm_after(action, second);
  EXPECT_TRUE(timers_.disarm(action));
  EXPECT_FALSE(timers_.disarm(action));
  move(monotonic, 200 * second);
  EXPECT_EQ(action.times, 0);
}

TEST_F(timer_service_test, arming_again_replaces_the_moment_and_the_clock) {
  counted_action action;
  EXPECT_FALSE(timers_.arm_after(action, second));
  EXPECT_TRUE(timers_.arm(action, wall, 150 * second));
  move(monotonic, 120 * second);
  EXPECT_EQ(action.times, 0);
  EXPECT_EQ(clocks_.at(monotonic).begun, 0);
  move(wall, 150 * second);
  EXPECT_EQ(action.times, 1);
  EXPECT_EQ(clocks_.at(wall).begun, 0);
}

TEST_F(timer_service_test, an_action_may_come_again_and_again) {
  counted_action action;
  action.period = second;
  timers_.arm_after(action, second);
  EXPECT_EQ(move(monotonic, 110 * second), 10);
  EXPECT_EQ(action.times, 10);
  EXPECT_EQ(clocks_.at(monotonic).begun, 1);
  timers_.disarm(action);
}

TEST_F(timer_service_test, the_alarm_is_set_for_what_comes_first_only) {
  std::vector<counted_action> actions(1000);
  for (std::size_t i = 0; i != actions.size(); ++i) {
    timers_.arm_after(actions[i], second + i);
  }
  EXPECT_EQ(clocks_.settings, 1);
  for (counted_action& action : actions) {
    timers_.disarm(action);
  }
  EXPECT_EQ(clocks_.settings, 1);
}

TEST_F(timer_service_test, far_moments_do_not_wrap_around) {
  counted_action action;
  timers_.arm_after(action, UINT64_MAX - second);
  move(monotonic, INT64_MAX);
  EXPECT_EQ(action.times, 0);
  timers_.disarm(action);
}

TEST_F(timer_service_test, a_chosen_moment_is_within_the_window_and_the_roundest_there) {
  std::mt19937_64 random(1);
  for (int i = 0; i != 100'000; ++i) {
    const std::uint64_t earliest = random() >> (2 + random() % 62);
    const std::uint64_t window = random() >> (2 + random() % 62);
    const std::uint64_t chosen = timer_service::choose(earliest, window);
    ASSERT_GE(chosen, earliest);
    ASSERT_LE(chosen, earliest + window);
    if (chosen != 0) {
      const std::uint64_t rounder = (chosen & -chosen) << 1;  // any multiple of this would have been better
      ASSERT_TRUE(rounder > earliest + window || (earliest + rounder - 1) / rounder * rounder > earliest + window);
    }
  }
}

TEST_F(timer_service_test, windows_let_actions_share_alarms) {
  constexpr int number = 100;
  const auto alarms = [&](std::uint64_t window) {
    std::vector<counted_action> actions(number);
    const std::uint64_t begin = now(monotonic);
    for (int i = 0; i != number; ++i) {
      timers_.arm_after(actions[static_cast<std::size_t>(i)], second + static_cast<std::uint64_t>(i) * 7'654'321,
                        window);
    }
    const int count = move(monotonic, begin + 10 * second);
    for (int i = 0; i != number; ++i) {
      const counted_action& each = actions[static_cast<std::size_t>(i)];
      const std::uint64_t due = begin + second + static_cast<std::uint64_t>(i) * 7'654'321;
      EXPECT_EQ(each.times, 1);
      EXPECT_GE(each.came_at, due);
      EXPECT_LE(each.came_at, due + window);
    }
    return count;
  };
  EXPECT_GE(alarms(0), number);
  EXPECT_LE(alarms(second), 4);
}

}  // namespace
