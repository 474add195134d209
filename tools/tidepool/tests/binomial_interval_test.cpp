#include "binomial_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using tool::exact_interval;
using tool::probability_interval;

struct known {
  std::uint64_t events;
  std::uint64_t runs;
  double low;
  double high;
};

// Computed from the binomial sums in Python, with 40 digits.
constexpr known values[] = {
    {1, 10, 0.00252857854446, 0.445016117028},        {5, 10, 0.187086028447, 0.812913971553},
    {4, 1000, 0.00109090798773, 0.0102096646839},     {15, 8400, 0.000999784384603, 0.00294355651062},
    {66, 24000, 0.00212746872408, 0.00349736404375},  {999, 1000, 0.99444107572, 0.999974682513},
    {3000, 100000, 0.0289513579302, 0.0310760184692},
};

TEST(exact_interval, is_that_of_clopper_and_pearson) {
  for (const known& each : values) {
    const probability_interval found = exact_interval(each.events, each.runs);
    EXPECT_NEAR(found.low / each.low, 1, 1e-9) << each.events << " of " << each.runs;
    EXPECT_NEAR(found.high / each.high, 1, 1e-9) << each.events << " of " << each.runs;
  }
}

TEST(exact_interval, of_no_event_begins_at_zero_and_ends_where_none_would_be_seen_one_time_in_forty) {
  for (const std::uint64_t runs : {1u, 10u, 20'000u, 1'000'000u}) {
    const probability_interval found = exact_interval(0, runs);
    EXPECT_EQ(found.low, 0);
    EXPECT_NEAR(std::pow(1 - found.high, static_cast<double>(runs)), 0.025, 1e-9) << runs;
  }
}

TEST(exact_interval, of_nothing_but_events_is_the_mirror_image) {
  for (const std::uint64_t runs : {1u, 10u, 1000u}) {
    EXPECT_EQ(exact_interval(runs, runs).high, 1);
    EXPECT_NEAR(exact_interval(runs, runs).low, 1 - exact_interval(0, runs).high, 1e-12);
  }
}

TEST(exact_interval, knows_nothing_after_no_run) {
  EXPECT_EQ(exact_interval(0, 0).low, 0);
  EXPECT_EQ(exact_interval(0, 0).high, 1);
}

TEST(exact_interval, narrows_around_what_was_seen_however_many_runs) {
  const probability_interval found = exact_interval(500'000, 1'000'000);
  EXPECT_NEAR(found.low, 0.5 - 0.00098, 1e-5);  // two standard deviations, nearly
  EXPECT_NEAR(found.high, 0.5 + 0.00098, 1e-5);
}

}  // namespace
