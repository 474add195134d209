#include "stall_tally.hpp"

#include <gtest/gtest.h>

#include "stall_csv.hpp"

namespace {

using outcome = tool::stall_run::outcome;
using tool::stall_plan;
using tool::stall_run;
using tool::stall_tally;

stall_plan plan_of(const std::vector<std::string>& arms) {
  stall_plan plan;
  for (const std::string& name : arms) plan.arms.push_back(tool::arm_named(name).value());
  plan.runs = 1000;
  return plan;
}

stall_run run_of(std::size_t arm, outcome what, std::int64_t microseconds = 10) {
  stall_run run;
  run.arm = arm;
  run.number = 7;
  run.what = what;
  run.report.removed = true;
  if (what == outcome::stalled) {
    run.report.fingerprint.emplace();
    run.report.fingerprint->work_ran = run.report.fingerprint->all_ran = true;
    run.report.fingerprint->freed_us = microseconds;
  } else {
    run.report.ran_after_us = microseconds;
  }
  return run;
}

void add(stall_tally& tally, int times, const stall_run& run) {
  for (int i = 0; i != times; ++i) tally.add(run);
}

std::string table_of(const stall_tally& tally) {
  const std::string text = tally.text();
  return text.substr(0, text.find("\n\n") + 1);
}

bool says(const stall_tally& tally, const std::string& words) { return tally.text().find(words) != std::string::npos; }

TEST(stall_tally, has_a_row_for_each_arm_with_a_rate_and_its_interval) {
  stall_tally tally{plan_of({"cancel", "drain"})};
  add(tally, 996, run_of(0, outcome::ran));
  add(tally, 4, run_of(0, outcome::stalled));
  stall_run drained = run_of(1, outcome::ran);
  drained.report.removed = false;
  add(tally, 1000, drained);
  EXPECT_EQ(table_of(tally),
            "arm     stalled  runs  removed   rate  95 % interval\n"
            "cancel        4  1000     1000  0.4 %  0.109 % to 1.02 %\n"
            "drain         0  1000        0    0 %  at most 0.368 %\n");
  EXPECT_EQ(tally.runs(), 2000u);
  EXPECT_EQ(tally.stalled(), 4u);
}

TEST(stall_tally, leaves_what_was_killed_or_crashed_out_of_the_rate) {
  stall_tally tally{plan_of({"close"})};
  add(tally, 2, run_of(0, outcome::stalled));
  add(tally, 2, run_of(0, outcome::ran));
  add(tally, 3, run_of(0, outcome::killed));
  stall_run crashed = run_of(0, outcome::crashed);
  crashed.description = "signal 11";
  tally.add(crashed);
  EXPECT_EQ(table_of(tally),
            "arm    stalled  runs  removed  killed  crashed  rate  95 % interval\n"
            "close        2     4        4       3        1  50 %  6.76 % to 93.2 %\n");
  EXPECT_EQ(tally.broken(), 4u);
  EXPECT_EQ(tally.runs(), 8u);
  EXPECT_TRUE(says(tally, "\nclose, run 7: crashed: signal 11\n"));
}

TEST(stall_tally, counts_what_recovered_as_hit_by_the_fault_but_not_as_stalled) {
  stall_tally tally{plan_of({"cancel"})};
  for (const int milliseconds : {300, 251, 499}) tally.add(run_of(0, outcome::recovered, milliseconds * 1000));
  tally.add(run_of(0, outcome::late, 900'000));
  EXPECT_EQ(table_of(tally),
            "arm     stalled  runs  removed  recovered  late  rate  95 % interval\n"
            "cancel        0     4        4          3     1   0 %  at most 60.2 %\n");
  EXPECT_TRUE(says(tally, "cancel: 3 had stalled and recovered, after 300.0 ms (median), 499.0 ms at most\n"));
  EXPECT_TRUE(says(tally, "This system has the fault"));
}

TEST(stall_tally, says_how_likely_the_fault_would_have_been_seen) {
  stall_tally tally{plan_of({"cancel", "drain", "warm", "close"})};
  add(tally, 60, run_of(0, outcome::ran));
  add(tally, 40, run_of(3, outcome::ran));
  add(tally, 1000, run_of(1, outcome::ran));
  add(tally, 1000, run_of(2, outcome::ran));  // neither shows it
  EXPECT_TRUE(says(tally,
                   "No stall in 100 removals. If there were 4 in 1,000, one would have been seen with a probability "
                   "of 33 %.\n"));
  EXPECT_TRUE(says(tally, "tidepool's teardown (drain) did not stall in 1000 runs.\n"));
  add(tally, 100'000, run_of(0, outcome::ran));
  EXPECT_TRUE(says(tally, "with a probability of 99.9 %.\n"));
}

TEST(stall_tally, does_not_hide_that_the_drain_stalled) {
  stall_tally tally{plan_of({"drain"})};
  tally.add(run_of(0, outcome::stalled));
  EXPECT_TRUE(says(tally, "tidepool's teardown (drain) stalled as well.\n"));
  EXPECT_FALSE(says(tally, "did not stall"));
}

TEST(stall_tally, shows_the_first_three_that_stalled_and_sums_up_all) {
  stall_tally tally{plan_of({"close"})};
  for (const int microseconds : {90, 80, 1500}) tally.add(run_of(0, outcome::stalled, microseconds));
  stall_run freed = run_of(0, outcome::stalled);
  freed.report.fingerprint->packet_ran = true;
  tally.add(freed);
  stall_run lost = run_of(0, outcome::stalled);
  lost.report.fingerprint->work_ran = lost.report.fingerprint->all_ran = false;
  tally.add(lost);
  const std::string text = tally.text();
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = text.find(": stalled\n", at)) != std::string::npos; ++at) ++shown;
  EXPECT_EQ(shown, 3u);
  EXPECT_TRUE(says(tally,
                   "\nOf 5 that stalled, another packet set 1 going, and a work item 3, after 90 us (median), 1.5 ms "
                   "at most.\n"));
}

TEST(stall_csv, has_empty_fields_for_what_is_not_known) {
  const stall_plan plan = plan_of({"cancel", "close"});
  tool::stall_csv csv{plan};
  csv.add(run_of(1, outcome::late, 250'000));
  csv.add(run_of(0, outcome::stalled, 85));
  csv.add(run_of(0, outcome::killed));
  EXPECT_EQ(csv.text(),
            "arm,run,outcome,removed,ran_after_us,depth,depth_after_packet,packet_ran,work_ran,all_ran,freed_us,how\n"
            "close,7,late,1,250000,,,,,,,\n"
            "cancel,7,stalled,1,,,,0,1,1,85,\n"
            "cancel,7,killed,,,,,,,,,\n");
}

}  // namespace
