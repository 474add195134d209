// The timing wheel, against a sorted list.
#include "engine/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace {

using tidepool::engine::timer_node;
using tidepool::engine::timer_wheel;

/// A wheel and the list of what it should hold.
class checked_wheel {
 public:
  void insert(timer_node& node, std::uint64_t moment) {
    wheel_.insert(node, moment, now_);
    expected_.emplace(moment, &node);
  }

  void remove(timer_node& node) {
    wheel_.remove(node);
    for (auto [each, end] = expected_.equal_range(node.moment); each != end; ++each) {
      if (each->second == &node) {
        expected_.erase(each);
        return;
      }
    }
    ADD_FAILURE() << "not in the wheel";
  }

  /// Moves the clock and checks that exactly what is due expires. Returns the nodes.
  std::vector<timer_node*> advance_to(std::uint64_t now) {
    now_ = now;
    std::vector<timer_node*> expired;
    wheel_.expire(now, [&](timer_node& node) { expired.push_back(&node); });
    std::vector<timer_node*> due;
    while (!expected_.empty() && expected_.begin()->first <= now) {
      due.push_back(expected_.begin()->second);
      expected_.erase(expected_.begin());
    }
    std::vector<timer_node*> sorted = expired;
    std::sort(sorted.begin(), sorted.end());
    std::sort(due.begin(), due.end());
    EXPECT_EQ(sorted, due);
    EXPECT_EQ(wheel_.size(), expected_.size());
    check_next();
    return expired;
  }

  void check_next() {
    const std::uint64_t first = expected_.empty() ? timer_wheel::never : expected_.begin()->first;
    EXPECT_LE(wheel_.next(), first);
    if (expected_.size() <= 31) {
      EXPECT_EQ(wheel_.next(), first);
    }
  }

  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t next() const { return wheel_.next(); }
  [[nodiscard]] std::size_t size() const { return expected_.size(); }
  [[nodiscard]] timer_node* any(std::size_t index) const {
    return std::next(expected_.begin(), static_cast<std::ptrdiff_t>(index))->second;
  }

 private:
  timer_wheel wheel_;
  std::multimap<std::uint64_t, timer_node*> expected_;
  std::uint64_t now_ = 1'000'000'007;
};

TEST(timer_wheel_test, expires_what_is_due_and_nothing_a_nanosecond_early) {
  for (const std::uint64_t after : {1ull, 2ull, 1023ull, 1024ull, 1025ull, 65'535ull, 65'536ull, 1'000'000ull,
                                    1ull << 40, 1ull << 60, 1ull << 62}) {
    checked_wheel wheel;
    timer_node node;
    const std::uint64_t moment = wheel.now() + after;
    wheel.insert(node, moment);
    EXPECT_EQ(wheel.next(), moment);
    EXPECT_TRUE(wheel.advance_to(moment - 1).empty());
    EXPECT_EQ(wheel.next(), moment);
    EXPECT_EQ(wheel.advance_to(moment).size(), 1u);
    EXPECT_EQ(wheel.next(), timer_wheel::never);
  }
}

TEST(timer_wheel_test, knows_the_last_moment_there_is) {
  checked_wheel wheel;
  timer_node node;
  wheel.insert(node, timer_wheel::never - 1);
  EXPECT_TRUE(wheel.advance_to(timer_wheel::never - 2).empty());
  EXPECT_EQ(wheel.advance_to(timer_wheel::never - 1).size(), 1u);
}

TEST(timer_wheel_test, expires_what_was_overdue_when_it_was_inserted) {
  checked_wheel wheel;
  timer_node overdue;
  timer_node later;
  wheel.insert(later, wheel.now() + 5);
  wheel.advance_to(wheel.now() + 1);
  wheel.insert(overdue, wheel.now() - 1000);
  EXPECT_EQ(wheel.next(), wheel.now() - 1000);
  EXPECT_EQ(wheel.advance_to(wheel.now()), std::vector<timer_node*>{&overdue});
}

TEST(timer_wheel_test, expires_the_same_moment_in_the_order_of_insertion) {
  checked_wheel wheel;
  std::vector<timer_node> nodes(100);
  std::vector<timer_node*> expected;
  for (timer_node& node : nodes) {
    wheel.insert(node, wheel.now() + 123'456'789);
    expected.push_back(&node);
  }
  EXPECT_EQ(wheel.advance_to(wheel.now() + 200'000'000), expected);
}

TEST(timer_wheel_test, expires_overdue_nodes_in_the_order_of_their_moments) {
  checked_wheel wheel;
  std::vector<timer_node> nodes(200);
  std::vector<timer_node*> expected(nodes.size());
  for (std::size_t i = 0; i != nodes.size(); ++i) {
    const std::size_t place = i * 7 % nodes.size();  // of another order than the moments
    expected[place] = &nodes[i];
    wheel.insert(nodes[i], wheel.now() + 10'000 * (place + 1));
  }
  EXPECT_EQ(wheel.advance_to(wheel.now() + 1'000'000'000), expected);
}

TEST(timer_wheel_test, lets_what_expires_be_inserted_again) {
  timer_wheel wheel;
  timer_node node;
  wheel.insert(node, 1000, 1);
  int times = 0;
  for (std::uint64_t now = 0; now <= 100'000; now += 500) {
    wheel.expire(now, [&](timer_node& expired) {
      ++times;
      EXPECT_LE(expired.moment, now);
      wheel.insert(expired, now + 1000, now);
    });
  }
  EXPECT_EQ(times, 100);
  EXPECT_EQ(wheel.size(), 1u);
}

TEST(timer_wheel_test, follows_a_clock_that_is_set_back) {
  checked_wheel wheel;
  timer_node before;
  timer_node after;
  const std::uint64_t start = wheel.now();
  wheel.insert(before, start + 50'000'000'000);
  wheel.advance_to(start + 40'000'000'000);
  wheel.advance_to(start - 1'000'000);  // set back
  wheel.insert(after, start + 1000);    // long ago for the clock before
  EXPECT_EQ(wheel.next(), start + 1000);
  EXPECT_TRUE(wheel.advance_to(start + 999).empty());
  EXPECT_EQ(wheel.advance_to(start + 1000).size(), 1u);
  EXPECT_TRUE(wheel.advance_to(start + 49'999'999'999).empty());
  EXPECT_EQ(wheel.advance_to(start + 50'000'000'000).size(), 1u);
}

TEST(timer_wheel_test, agrees_with_a_sorted_list_over_many_random_steps) {
  for (unsigned seed = 0; seed != 20; ++seed) {
    std::mt19937_64 random(seed);
    checked_wheel wheel;
    std::vector<timer_node> nodes(300);
    const auto span = [&] { return std::uint64_t{1} << (random() % 45); };
    for (int step = 0; step != 3000; ++step) {
      timer_node& node = nodes[random() % nodes.size()];
      switch (random() % 4) {
        case 0:
        case 1:
          if (!node.is_linked()) {
            wheel.insert(node, wheel.now() + random() % span());
          }
          break;
        case 2:
          if (node.is_linked()) {
            wheel.remove(node);
            wheel.check_next();
          }
          break;
        default:
          if (random() % 3 != 0) {
            wheel.advance_to(wheel.now() + random() % span());
          } else if (wheel.next() != timer_wheel::never) {
            wheel.advance_to(std::max(wheel.next(), wheel.now()));
          }
      }
    }
    while (wheel.size() != 0) {
      ASSERT_NE(wheel.next(), timer_wheel::never);
      wheel.advance_to(std::max(wheel.next(), wheel.now()));
    }
  }
}

TEST(timer_wheel_test, comes_to_every_moment_after_few_steps) {
  checked_wheel wheel;
  timer_node node;
  wheel.insert(node, wheel.now() + 3'600'000'000'000);
  int steps = 0;
  for (; wheel.size() != 0; ++steps) {
    wheel.advance_to(wheel.next());
  }
  EXPECT_EQ(steps, 1);
}

}  // namespace
