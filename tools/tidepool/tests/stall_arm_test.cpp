#include "stall_arm.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using tool::arm_named;
using removal = tool::stall_arm::removal;

TEST(stall_arm, has_the_name_it_is_found_by) {
  for (const std::string& name : tool::usual_arms()) {
    ASSERT_TRUE(arm_named(name)) << name;
    EXPECT_EQ(arm_named(name)->name, name);
  }
}

TEST(stall_arm, differs_from_the_others_in_what_its_name_says) {
  EXPECT_EQ(arm_named("cancel")->by, removal::cancel);
  EXPECT_EQ(arm_named("close")->by, removal::close);
  EXPECT_EQ(arm_named("drain")->by, removal::drain);
  EXPECT_EQ(arm_named("warm")->by, removal::cancel);
  EXPECT_EQ(arm_named("delay")->by, removal::cancel);
  for (const std::string& name : tool::usual_arms()) {
    EXPECT_EQ(arm_named(name)->warm, name == "warm") << name;
    EXPECT_EQ(arm_named(name)->before > 0us, name == "delay") << name;
    EXPECT_EQ(arm_named(name)->in_queue > 0us, name.starts_with("spin-")) << name;
  }
}

TEST(stall_arm, can_spin_for_any_time_up_to_a_second) {
  EXPECT_EQ(arm_named("spin-0")->in_queue, 0us);
  EXPECT_EQ(arm_named("spin-17")->in_queue, 17us);
  EXPECT_EQ(arm_named("spin-17")->by, removal::close);
  EXPECT_EQ(arm_named("spin-1000000")->in_queue, 1s);
  for (const char* wrong : {"spin-1000001", "spin--1", "spin-", "spin-x", "spin-1x", "spin-07", "spin- 7", "spin-+7",
                            "spin-99999999999999999999", "spin", "SPIN-7", "", "warmer"}) {
    EXPECT_FALSE(arm_named(wrong)) << wrong;
  }
}

}  // namespace
