// Figures that may not be known.
#include <gtest/gtest.h>

#include <tidepool/observation.hpp>
#include <variant>

namespace {

using tidepool::observation;

TEST(observations, have_what_was_seen_even_if_it_is_zero) {
  const observation<int> zero = 0;
  EXPECT_TRUE(zero.has_value());
  EXPECT_EQ(zero.value(), 0);
  EXPECT_EQ(zero, 0);
  EXPECT_EQ(zero.value_or(7), 0);
  EXPECT_EQ(zero.why_not(), "");
}

TEST(observations, that_could_not_be_made_are_no_zero_and_say_why) {
  const auto none = observation<int>::unavailable("the system refuses");
  EXPECT_FALSE(none.has_value());
  EXPECT_FALSE(none == 0);
  EXPECT_EQ(none.value_or(7), 7);
  EXPECT_EQ(none.why_not(), "the system refuses");
  EXPECT_THROW(static_cast<void>(none.value()), std::bad_variant_access);
}

TEST(observations, that_nobody_made_say_so) {
  EXPECT_FALSE(observation<bool>().has_value());
  EXPECT_EQ(observation<bool>().why_not(), "not looked at");
}

TEST(observations, are_equal_when_value_or_reason_is) {
  using figure = observation<int>;
  EXPECT_EQ(figure(1), figure(1));
  EXPECT_NE(figure(1), figure(2));
  EXPECT_NE(figure(0), figure());
  EXPECT_EQ(figure::unavailable("a"), figure::unavailable("a"));
  EXPECT_NE(figure::unavailable("a"), figure::unavailable("b"));
}

}  // namespace
