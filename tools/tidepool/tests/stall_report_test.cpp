#include "stall_report.hpp"

#include <gtest/gtest.h>

namespace {

using tidepool::observation;
using tool::facts_of;
using tool::lines_of;
using tool::process_facts;
using tool::report_from;
using tool::stall_report;

tidepool::snapshot stalled_pool() {
  tidepool::pool_snapshot pool;
  pool.kind = tidepool::pool_kind::process_default;
  pool.threads = 0u;
  pool.idle_threads = 0u;
  pool.may_create = true;
  pool.create_in_progress = false;
  pool.scheduled = false;
  pool.port_depth = std::uint64_t{2};
  tidepool::snapshot seen;
  seen.pools = std::vector{pool};
  seen.ports = std::vector<tidepool::port_snapshot>{};
  return seen;
}

TEST(stall_report, comes_back_from_its_text_as_it_was) {
  stall_report healthy;
  healthy.removed = true;
  healthy.ran_after_us = 123;
  EXPECT_EQ(report_from(to_text(healthy)), healthy);

  stall_report stalled;
  stalled.removed = true;
  stalled.fingerprint = {facts_of(stalled_pool()), false, facts_of(tidepool::snapshot{}), true, true, 85};
  stalled.fingerprint->after_packet.port_depths = {3, std::nullopt};
  EXPECT_EQ(report_from(to_text(stalled)), stalled);
  EXPECT_NE(report_from(to_text(stalled)), report_from(to_text(healthy)));
}

TEST(stall_report, is_not_made_of_a_text_that_is_cut_off_or_is_something_else) {
  const std::string text = to_text(stall_report{});
  for (std::size_t length = 0; length != text.size(); ++length) {
    EXPECT_FALSE(report_from(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(report_from("{}"));
  EXPECT_FALSE(report_from(R"({"removed":1,"ran_after_us":null,"fingerprint":null})"));
}

TEST(process_facts, of_a_pool_say_what_its_snapshot_says) {
  const process_facts facts = facts_of(stalled_pool());
  ASSERT_NE(facts.default_pool(), nullptr);
  EXPECT_EQ(facts.default_pool()->port_depth, 2u);
  EXPECT_EQ(lines_of(facts),
            std::vector<std::string>{"default pool: port depth 2, threads 0, idle 0, may create yes, creating no, "
                                     "scheduled no, appears stalled yes"});
}

TEST(process_facts, leave_open_what_the_system_does_not_tell) {
  tidepool::snapshot seen;
  seen.pools = std::vector{tidepool::pool_snapshot{}};
  tidepool::port_snapshot port;
  port.depth = std::uint64_t{1};
  seen.ports = std::vector{port, tidepool::port_snapshot{}};
  const process_facts facts = facts_of(seen);
  EXPECT_EQ(facts.default_pool(), nullptr);
  EXPECT_EQ(lines_of(facts),
            (std::vector<std::string>{"pool: port depth ?, threads ?, idle ?, may create ?, creating ?, "
                                      "scheduled ?, appears stalled ?",
                                      "other completion ports: depth 1 ?"}));
}

TEST(process_facts, say_why_nothing_is_known) {
  tidepool::snapshot seen;
  seen.pools = observation<std::vector<tidepool::pool_snapshot>>::unavailable("Wine does not tell");
  EXPECT_EQ(lines_of(facts_of(seen)), std::vector<std::string>{"pools: not available here: Wine does not tell"});
}

}  // namespace
