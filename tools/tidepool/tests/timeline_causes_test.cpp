#include "timeline_causes.hpp"

#include <gtest/gtest.h>

#include "traces.hpp"

namespace {

using tool::due_reason;
using tool::no_time;
using tool::strings;
using tool::trace;

// ---- submissions -------------------------------------------------------------------------------------

TEST(timeline_causes, submissions_are_served_in_their_order) {
  const trace t{{"10 1 work 0x1 submitted", "20 1 work 0x1 submitted", "25 1 work 0x2 submitted", "30 2 work 0x1 enter",
                 "40 2 work 0x1 leave", "45 2 work 0x2 enter", "46 2 work 0x2 leave", "50 2 work 0x1 enter",
                 "60 2 work 0x1 leave"}};
  EXPECT_EQ(t.causes(30), strings{"submitted 10"});
  EXPECT_EQ(t.causes(45), strings{"submitted 25"});
  EXPECT_EQ(t.causes(50), strings{"submitted 20"});
  EXPECT_EQ(t.due(50), 20);
  EXPECT_EQ(t.callback_at(50).queue_wait(), 30);
  EXPECT_EQ(t.reason(50), due_reason::submitted);
}

TEST(timeline_causes, submissions_that_a_cancelling_drain_dropped_lead_to_nothing) {
  const trace t{{"10 1 work 0x1 submitted", "20 1 work 0x1 drain-begin cancel=1", "25 1 work 0x1 drain-end",
                 "30 1 work 0x1 submitted", "40 2 work 0x1 enter", "50 2 work 0x1 leave"}};
  EXPECT_EQ(t.causes(40), strings{"submitted 30"});
}

TEST(timeline_causes, a_callback_that_was_under_way_when_a_drain_began_keeps_its_submission) {
  const trace t{{"10 1 work 0x1 submitted", "20 1 work 0x1 drain-begin cancel=1", "22 2 work 0x1 enter",
                 "24 2 work 0x1 leave", "25 1 work 0x1 drain-end"}};
  EXPECT_EQ(t.causes(22), strings{"submitted 10"});
}

TEST(timeline_causes, what_was_submitted_while_a_drain_went_on_is_still_to_come) {
  const trace t{{"10 1 work 0x1 drain-begin cancel=1", "12 3 work 0x1 submitted", "14 1 work 0x1 drain-end",
                 "20 2 work 0x1 enter", "21 2 work 0x1 leave"}};
  EXPECT_EQ(t.causes(20), strings{"submitted 12"});
}

TEST(timeline_causes, submissions_that_are_lost_do_not_shift_the_others) {
  const strings records{"10 2 work 0x1 enter", "12 1 work 0x1 submitted", "20 2 work 0x1 leave", "21 2 work 0x1 enter",
                        "22 2 work 0x1 leave", "30 2 work 0x1 enter",     "31 2 work 0x1 leave"};
  const trace lossy{records, 100};  // two more had been submitted before
  EXPECT_EQ(lossy.causes(10), strings{});
  EXPECT_EQ(lossy.causes(21), strings{});
  EXPECT_EQ(lossy.causes(30), strings{"submitted 12"});
  EXPECT_EQ(lossy.due(10), no_time);
}

// ---- timers ------------------------------------------------------------------------------------------

TEST(timeline_causes, a_timer_is_due_after_the_time_it_was_armed_for) {
  const trace t{{"10 1 timer 0x1 armed after_ns=100 window_ms=0", "130 2 timer 0x1 enter", "140 2 timer 0x1 leave"}};
  EXPECT_EQ(t.causes(130), strings{"armed 10"});
  EXPECT_EQ(t.due(130), 110);
  EXPECT_EQ(t.reason(130), due_reason::due_time);
}

TEST(timeline_causes, arming_again_replaces_the_arming_before) {
  const trace t{{"10 1 timer 0x1 armed after_ns=100", "20 1 timer 0x1 armed after_ns=50", "75 2 timer 0x1 enter",
                 "76 2 timer 0x1 leave"}};
  EXPECT_EQ(t.causes(75), strings{"armed 20"});
  EXPECT_EQ(t.due(75), 70);
}

TEST(timeline_causes, a_callback_that_begins_before_the_new_due_time_comes_from_the_arming_before) {
  const trace t{{"10 1 timer 0x1 armed after_ns=100", "112 1 timer 0x1 armed after_ns=1000", "115 2 timer 0x1 enter",
                 "116 2 timer 0x1 leave", "1113 2 timer 0x1 enter", "1120 2 timer 0x1 leave"}};
  EXPECT_EQ(t.causes(115), strings{"armed 10"});
  EXPECT_EQ(t.causes(1113), strings{"armed 112"});
}

TEST(timeline_causes, a_rearm_leads_from_one_callback_to_the_next) {
  const trace t{{"10 1 timer 0x1 armed after_ns=10", "21 2 timer 0x1 enter", "22 2 timer 0x1 rearm-requested",
                 "23 2 timer 0x1 leave", "24 2 timer 0x1 rearm-enter", "25 2 timer 0x1 armed after_ns=5",
                 "26 2 timer 0x1 rearm-leave", "33 3 timer 0x1 enter", "34 3 timer 0x1 leave"}};
  EXPECT_EQ(t.causes(33), strings{"armed 25"});
  EXPECT_EQ(t.due(33), 30);
}

TEST(timeline_causes, a_rearm_without_an_arming_of_its_own_leads_to_the_next_callback_too) {
  const trace t{
      {"24 2 timer 0x1 rearm-enter", "26 2 timer 0x1 rearm-leave", "33 3 timer 0x1 enter", "34 3 timer 0x1 leave"}};
  EXPECT_EQ(t.causes(33), strings{"armed 24"});
  EXPECT_EQ(t.due(33), no_time);
}

TEST(timeline_causes, a_tick_is_due_at_the_first_moment_of_its_period_since_the_one_before_began) {
  const trace t{{"0 1 periodic_timer 0x1 armed after_ns=1000000 period_ms=1", "1000100 2 periodic_timer 0x1 enter",
                 "1000200 2 periodic_timer 0x1 leave", "2000300 2 periodic_timer 0x1 enter",
                 "2000400 2 periodic_timer 0x1 leave", "5500000 2 periodic_timer 0x1 enter",
                 "5600000 2 periodic_timer 0x1 leave", "6000001 2 periodic_timer 0x1 enter",
                 "6000009 2 periodic_timer 0x1 leave"}};
  EXPECT_EQ(t.due(1000100), 1000000);
  EXPECT_EQ(t.due(2000300), 2000000);
  EXPECT_EQ(t.due(5500000), 3000000);
  EXPECT_EQ(t.due(6000001), 6000000);
  EXPECT_EQ(t.causes(6000001), strings{"armed 0"});
}

TEST(timeline_causes, times_that_no_clock_reaches_are_far_away) {
  const trace t{{"5 1 timer 0x1 armed after_ns=9223372036854775807 window_ms=9223372036854775807",
                 "6 1 periodic_timer 0x2 armed after_ns=9223372036854775807 period_ms=9223372036854775807",
                 "7 1 timer 0x3 armed after_ns=-9223372036854775808 window_ms=-1", "8 1 timer 0x4 armed after_ns=much",
                 "9 2 timer 0x3 enter", "10 2 timer 0x3 leave", "9007199254740992 1 event 0x4 set"}};
  EXPECT_EQ(t.due(9), 7);
  EXPECT_TRUE(t.lines.stalls.empty());
}

// ---- waits -------------------------------------------------------------------------------------------

TEST(timeline_causes, a_wait_comes_from_its_arming_and_from_the_event_that_was_set) {
  const trace t{{"5 1 event 0x8 set", "6 1 event 0x8 reset", "10 1 wait 0x1 armed handle=0x4", "15 1 event 0x8 set",
                 "20 3 event 0x4 set", "27 2 wait 0x1 enter", "28 2 wait 0x1 leave"}};
  EXPECT_EQ(t.causes(27), (strings{"armed 10", "signalled 20"}));
  EXPECT_EQ(t.due(27), 20);
  EXPECT_EQ(t.reason(27), due_reason::signalled);
}

TEST(timeline_causes, an_event_that_was_set_before_makes_a_wait_due_when_it_is_armed) {
  const trace t{{"5 1 event 0x4 set", "10 1 wait 0x1 armed handle=0x4", "27 2 wait 0x1 enter", "28 2 wait 0x1 leave"}};
  EXPECT_EQ(t.causes(27), (strings{"armed 10", "signalled 5"}));
  EXPECT_EQ(t.due(27), 10);
}

TEST(timeline_causes, each_signal_of_an_event_goes_to_one_wait) {
  const trace t{{"10 1 wait 0x1 armed handle=0x4", "11 1 wait 0x2 armed handle=0x4", "20 3 event 0x4 set",
                 "30 3 event 0x4 set", "40 2 wait 0x1 enter", "41 2 wait 0x1 leave", "42 2 wait 0x2 enter",
                 "43 2 wait 0x2 leave"}};
  EXPECT_EQ(t.causes(40), (strings{"armed 10", "signalled 20"}));
  EXPECT_EQ(t.causes(42), (strings{"armed 11", "signalled 30"}));
}

TEST(timeline_causes, an_event_that_somebody_resets_wakes_all_waits) {
  const trace t{{"10 1 wait 0x1 armed handle=0x4", "11 1 wait 0x2 armed handle=0x4", "20 3 event 0x4 set",
                 "40 2 wait 0x1 enter", "41 2 wait 0x1 leave", "42 2 wait 0x2 enter", "43 2 wait 0x2 leave",
                 "50 3 event 0x4 reset", "60 1 wait 0x1 armed handle=0x4", "70 2 wait 0x1 enter",
                 "71 2 wait 0x1 leave"}};
  EXPECT_EQ(t.causes(40), (strings{"armed 10", "signalled 20"}));
  EXPECT_EQ(t.causes(42), (strings{"armed 11", "signalled 20"}));
  EXPECT_EQ(t.causes(70), strings{"armed 60"}) << "the event was reset";
}

TEST(timeline_causes, a_wait_that_timed_out_comes_from_no_signal) {
  const trace t{{"10 1 wait 0x1 armed handle=0x4 timeout_ns=100", "115 2 wait 0x1 enter", "116 2 wait 0x1 leave"}};
  EXPECT_EQ(t.causes(115), strings{"armed 10"});
  EXPECT_EQ(t.due(115), 110);
  EXPECT_EQ(t.reason(115), due_reason::timed_out);
}

TEST(timeline_causes, a_signal_after_the_time_out_came_too_late) {
  const trace t{{"10 1 wait 0x1 armed handle=0x4 timeout_ns=100", "112 1 event 0x4 set", "115 2 wait 0x1 enter",
                 "116 2 wait 0x1 leave", "120 1 wait 0x1 armed handle=0x4", "125 2 wait 0x1 enter",
                 "126 2 wait 0x1 leave"}};
  EXPECT_EQ(t.reason(115), due_reason::timed_out);
  EXPECT_EQ(t.causes(125), (strings{"armed 120", "signalled 112"}));
}

TEST(timeline_causes, a_callback_that_was_queued_when_its_wait_was_disarmed_keeps_its_arming) {
  const trace t{{"10 1 wait 0x1 armed handle=0x4", "20 1 event 0x4 set", "21 1 wait 0x1 disarmed",
                 "25 2 wait 0x1 enter", "26 2 wait 0x1 leave"}};
  EXPECT_EQ(t.causes(25), (strings{"armed 10", "signalled 20"}));
}

// ---- i/o ---------------------------------------------------------------------------------------------

TEST(timeline_causes, requests_are_known_by_their_numbers_and_the_handler_is_next_on_the_thread) {
  const trace t{{"10 1 io 0x1 request-begin request=0xa", "11 1 io 0x1 request-begin request=0xb",
                 "20 2 io 0x1 request-end request=0xb error=0 bytes=5",
                 "21 3 io 0x1 request-end request=0xa error=0 bytes=6", "22 3 io 0x1 enter", "23 2 io 0x1 enter",
                 "24 2 io 0x1 leave", "25 3 io 0x1 leave", "90000000 1 io 0x1 request-begin request=0xa",
                 "190000000 1 event 0x4 set"}};
  EXPECT_EQ(t.causes(22), strings{"requested 10"});
  EXPECT_EQ(t.causes(23), strings{"requested 11"});
  EXPECT_EQ(t.due(22), no_time) << "when the system was done with it is not in the trace";
  EXPECT_TRUE(t.lines.stalls.empty()) << "a request that takes long is none";
}

TEST(timeline_causes, requests_whose_beginning_is_lost_have_no_cause) {
  const trace t{{"10 1 io 0x1 request-begin request=0xa", "20 2 io 0x1 request-end request=0xb error=0 bytes=5",
                 "21 2 io 0x1 enter", "22 2 io 0x1 leave", "30 2 io 0x1 request-end request=0xa error=0 bytes=5",
                 "31 2 io 0x1 enter", "32 2 io 0x1 leave", "40 2 io 0x1 request-end request=0xa error=0 bytes=5",
                 "41 2 io 0x1 enter", "42 2 io 0x1 leave"},
                100};
  EXPECT_EQ(t.causes(21), strings{});
  EXPECT_EQ(t.causes(31), strings{"requested 10"});
  EXPECT_EQ(t.causes(41), strings{});
}

// ---- stalls ------------------------------------------------------------------------------------------

constexpr const char* submitted = "1000000 1 work 0x1 submitted";

TEST(timeline_stalls, something_due_and_nothing_begun_is_a_stall) {
  const trace t{{submitted, "2000000 1 work 0x1 submitted", "111000000 2 work 0x1 enter", "111000001 2 work 0x1 leave",
                 "111000002 2 work 0x1 enter", "111000003 2 work 0x1 leave"}};
  ASSERT_EQ(t.lines.stalls.size(), 1u);
  EXPECT_EQ(t.lines.stalls[0].begin, 1000000);
  EXPECT_EQ(t.lines.stalls[0].end, 111000000);
  EXPECT_EQ(t.lines.stalls[0].waiting, 2u);
  EXPECT_EQ(t.lines.stalls[0].running, 0u);
  EXPECT_FALSE(t.lines.stalls[0].unfinished);
}

TEST(timeline_stalls, a_callback_that_begins_meanwhile_ends_it) {
  const trace t{{submitted, "9000000 2 io 0x2 enter", "9000001 2 io 0x2 leave", "18000000 2 work 0x1 enter",
                 "18000001 2 work 0x1 leave"}};
  EXPECT_TRUE(t.lines.stalls.empty());
}

TEST(timeline_stalls, nothing_due_is_no_stall) {
  const trace t{{submitted, "1100000 2 work 0x1 enter", "1200000 2 work 0x1 leave", "500000000 1 work 0x1 submitted",
                 "500100000 2 work 0x1 enter", "500200000 2 work 0x1 leave"}};
  EXPECT_TRUE(t.lines.stalls.empty());
}

TEST(timeline_stalls, callbacks_that_run_all_the_while_are_counted) {
  const trace t{{"1 1 timer 0x2 armed after_ns=5", "10 2 timer 0x2 enter", "20 3 timer 0x3 enter", submitted,
                 "2000000 3 timer 0x3 leave", "50000000 4 work 0x1 enter", "50000001 4 work 0x1 leave",
                 "60000000 2 timer 0x2 leave"}};
  ASSERT_EQ(t.lines.stalls.size(), 1u);
  EXPECT_EQ(t.lines.stalls[0].running, 1u);
}

TEST(timeline_stalls, one_that_lasts_to_the_end_is_a_stall) {
  const trace t{{"1000000 1 wait 0x1 armed handle=0x4", "2000000 1 event 0x4 set", "200000000 1 event 0x5 set"}};
  ASSERT_EQ(t.lines.stalls.size(), 1u);
  EXPECT_EQ(t.lines.stalls[0].begin, 2000000);
  EXPECT_EQ(t.lines.stalls[0].end, 200000000);
  EXPECT_TRUE(t.lines.stalls[0].unfinished);
}

TEST(timeline_stalls, what_was_cancelled_is_not_waited_for_any_more) {
  const trace t{{submitted, "2000000 1 work 0x1 drain-begin cancel=1", "2100000 1 work 0x1 drain-end",
                 "200000000 1 event 0x5 set"}};
  EXPECT_TRUE(t.lines.stalls.empty());
}

TEST(timeline_stalls, a_timer_within_its_window_is_on_time) {
  const trace t{{"0 1 timer 0x1 armed after_ns=1000000 window_ms=50", "45000000 2 timer 0x1 enter",
                 "45000001 2 timer 0x1 leave"}};
  EXPECT_TRUE(t.lines.stalls.empty());
  EXPECT_EQ(t.due(45000000), 1000000);
}

}  // namespace
