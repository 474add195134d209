// Events.
#include <chrono>
#include <limits>
#include <optional>
#include <ratio>

#include "safe.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::reset_mode;

class events : public safe_test {
 protected:
  static bool is_set(const event& which) { return which.wait_for(0s); }
};

TEST_F(events, with_manual_reset_stay_set_until_they_are_reset) {
  event manual(reset_mode::manual);
  EXPECT_FALSE(is_set(manual));
  manual.set();
  manual.set();
  EXPECT_TRUE(is_set(manual));
  EXPECT_TRUE(is_set(manual));
  manual.wait();
  manual.reset();
  EXPECT_FALSE(is_set(manual));
}

TEST_F(events, with_automatic_reset_release_one_wait_per_signal) {
  event automatic(reset_mode::automatic);
  EXPECT_FALSE(is_set(automatic));
  automatic.set();
  automatic.set();  // changes nothing
  EXPECT_TRUE(is_set(automatic));
  EXPECT_FALSE(is_set(automatic));
  automatic.set();
  automatic.wait();
  EXPECT_FALSE(is_set(automatic));
  automatic.set();
  automatic.reset();
  EXPECT_FALSE(is_set(automatic));
}

TEST_F(events, can_be_set_from_the_start) {
  const event manual(reset_mode::manual, true);
  EXPECT_TRUE(is_set(manual));
  EXPECT_TRUE(is_set(manual));
  const event automatic(reset_mode::automatic, true);
  EXPECT_TRUE(is_set(automatic));
  EXPECT_FALSE(is_set(automatic));
}

TEST_F(events, share_one_object_among_their_copies) {
  std::optional<event> original(std::in_place, reset_mode::automatic);
  event copy = *original;
  const event unrelated(reset_mode::automatic);
  EXPECT_EQ(copy, *original);
  EXPECT_NE(copy, unrelated);
  original->set();
  EXPECT_TRUE(is_set(copy));
  EXPECT_FALSE(is_set(*original));
  EXPECT_EQ(tidepool::unsafe::native_handle(copy), tidepool::unsafe::native_handle(*original));

  original.reset();
  copy.set();
  EXPECT_TRUE(is_set(copy));

  copy = unrelated;
  EXPECT_EQ(copy, unrelated);
}

TEST_F(events, still_have_their_object_when_they_are_moved_from) {
  event original(reset_mode::manual);
  event moved = std::move(original);
  moved.set();
  EXPECT_TRUE(is_set(original));
  EXPECT_EQ(original, moved);
}

TEST_F(events, release_a_thread_that_waits) {
  event automatic(reset_mode::automatic);
  event manual(reset_mode::manual);
  tally released;
  {
    std::vector<std::jthread> waiters;
    for (int i = 0; i != 4; ++i) {
      waiters.emplace_back([&] {
        automatic.wait();
        released.add();
        manual.wait();
        released.add();
      });
    }
    for (unsigned i = 1; i <= 4; ++i) {
      automatic.set();
      EXPECT_TRUE(released.reaches(i));
    }
    EXPECT_EQ(released.count(), 4u);
    manual.set();
  }
  EXPECT_EQ(released.count(), 8u);
}

TEST_F(events, publish_what_was_done_before_they_were_set) {
  event ping(reset_mode::automatic);
  event pong(reset_mode::automatic);
  int value = 0;
  std::jthread partner([&] {
    for (int i = 0; i != 1000; ++i) {
      ping.wait();
      ++value;
      pong.set();
    }
  });
  for (int i = 0; i != 1000; ++i) {
    ping.set();
    pong.wait();
    EXPECT_EQ(value, i + 1);
    ++value;
    --value;
  }
}

template <class Duration>
void expect_never_early(Duration duration) {
  const event never(reset_mode::manual);
  for (int i = 0; i != 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(never.wait_for(duration));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, duration);
  }
}

TEST_F(events, are_never_given_up_early) {
  expect_never_early(1ns);
  expect_never_early(999us);
  expect_never_early(1ms);
  expect_never_early(1001us);
  expect_never_early(17'300us);
  expect_never_early(std::chrono::duration<double>(0.0123));
  expect_never_early(std::chrono::duration<float, std::milli>(2.5f));
  expect_never_early(std::chrono::duration<long long, std::pico>(2'000'000'001));
}

TEST_F(events, are_looked_at_but_not_waited_for_when_there_is_no_time) {
  event automatic(reset_mode::automatic);
  const auto look = [&](auto duration) {
    EXPECT_FALSE(automatic.wait_for(duration));
    automatic.set();
    EXPECT_TRUE(automatic.wait_for(duration));
  };
  look(0ns);
  look(-1ns);
  look(-1h);
  look(std::chrono::nanoseconds::min());
  look(std::chrono::hours::min());
  look(std::chrono::duration<double>(-0.5));
  look(std::chrono::duration<double>(-std::numeric_limits<double>::infinity()));
  look(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()));
}

TEST_F(events, can_be_waited_for_longer_than_any_counter_counts) {
  event automatic(reset_mode::automatic);
  const auto wait_long = [&](auto duration) {
    std::atomic<bool> result = false;
    tally waiting;
    {
      std::jthread waiter([&] {
        waiting.add();
        result = automatic.wait_for(duration);
        waiting.add();
      });
      EXPECT_TRUE(waiting.reaches(1));
      let_another_pool_work(2);
      EXPECT_EQ(waiting.count(), 1u);  // a wait that took the time for none would be over
      automatic.set();
    }
    EXPECT_TRUE(result);
  };
  wait_long(std::chrono::nanoseconds::max());
  wait_long(std::chrono::hours::max());
  wait_long(std::chrono::years(60));
  wait_long(std::chrono::duration<unsigned long long, std::ratio<86400 * 365>>::max());
  wait_long(std::chrono::duration<long long, std::pico>::max());
  wait_long(std::chrono::duration<double>::max());
  wait_long(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
  wait_long(std::chrono::milliseconds(0xFFFF'FFFF));    // what the system takes for "without end"
  wait_long(std::chrono::milliseconds(0x1'0000'0000));  // which leaves nothing in 32 bits
  wait_long(std::chrono::seconds(std::int64_t{1} << 31));
}

TEST_F(events, that_a_callback_sets_outlive_everybody_else) {
  tally ran;
  {
    const event signal(reset_mode::manual);
    tidepool::submit([&ran, signal] {
      signal.set();
      ran.add();
    });
  }
  EXPECT_TRUE(ran.reaches(1));
}

}  // namespace
}  // namespace safe
