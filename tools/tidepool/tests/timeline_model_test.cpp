#include "timeline_model.hpp"

#include <gtest/gtest.h>

#include "traces.hpp"

namespace {

using tool::index;
using tool::marker_kind;
using tool::no_index;
using tool::span_type;
using tool::timeline_span;
using tool::trace;

std::vector<timeline_span> spans_of(const trace& t, span_type type) {
  std::vector<timeline_span> found;
  for (const timeline_span& span : t.lines.spans) {
    if (span.type == type) found.push_back(span);
  }
  return found;
}

TEST(timeline_spans, a_callback_lasts_from_enter_to_leave_on_its_thread) {
  const trace t{{"10 2 work 0x1 enter site=/a/b.cpp:3", "15 3 work 0x1 enter site=/a/b.cpp:3", "20 2 work 0x1 leave",
                 "40 3 work 0x1 leave"}};
  const auto found = t.callbacks();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].end, 20);
  EXPECT_EQ(found[1].end, 40);
  EXPECT_NE(found[0].thread, found[1].thread);
  EXPECT_EQ(found[0].site, "/a/b.cpp:3");
  EXPECT_FALSE(found[0].begin_lost || found[0].unfinished);
  EXPECT_EQ(t.lines.objects[found[0].object].callbacks, 2u);
  EXPECT_EQ(t.lines.objects[found[0].object].running, 35);
}

TEST(timeline_spans, calls_within_a_callback_nest_in_a_layer_of_their_own) {
  const trace t{{"10 2 work 0x1 enter", "11 2 call 0x9 enter call=SetThreadpoolTimer",
                 "12 2 call 0x8 enter call=SetEvent", "13 2 call 0x8 leave call=SetEvent",
                 "14 2 call 0x9 leave call=SetThreadpoolTimer", "20 2 work 0x1 leave"}};
  const auto calls = spans_of(t, span_type::call);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].name, "SetThreadpoolTimer");
  EXPECT_EQ(calls[0].end, 14);
  EXPECT_EQ(calls[0].depth, 0);
  EXPECT_EQ(calls[1].name, "SetEvent");
  EXPECT_EQ(calls[1].depth, 1);
}

TEST(timeline_spans, drains_closings_destructions_and_rearms_are_spans) {
  const trace t{{"1 1 work 0x1 destroy-begin", "2 1 work 0x1 drain-begin cancel=1", "5 1 work 0x1 drain-end",
                 "6 1 work 0x1 closed", "7 1 work 0x1 destroyed", "8 1 group 0x2 close-begin cancel=0",
                 "9 1 group 0x2 close-end", "10 1 timer 0x3 rearm-enter", "11 1 timer 0x3 rearm-leave"}};
  const auto drains = spans_of(t, span_type::drain);
  ASSERT_EQ(drains.size(), 1u);
  EXPECT_EQ(drains[0].begin, 2);
  EXPECT_EQ(drains[0].end, 5);
  EXPECT_TRUE(drains[0].cancelling);
  EXPECT_EQ(drains[0].depth, 1);
  ASSERT_EQ(spans_of(t, span_type::destroy).size(), 1u);
  EXPECT_EQ(spans_of(t, span_type::destroy)[0].end, 7);
  ASSERT_EQ(spans_of(t, span_type::close).size(), 1u);
  EXPECT_FALSE(spans_of(t, span_type::close)[0].cancelling);
  ASSERT_EQ(spans_of(t, span_type::rearm).size(), 1u);
}

TEST(timeline_spans, a_callback_whose_beginning_is_lost_begins_with_the_capture) {
  const trace t{{"10 1 work 0x1 submitted", "20 2 work 0x1 leave", "30 2 work 0x1 enter", "40 2 work 0x1 leave"}, 5};
  const auto found = t.callbacks();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].begin_lost);
  EXPECT_EQ(found[0].begin, 10);
  EXPECT_EQ(found[0].end, 20);
}

TEST(timeline_spans, a_beginning_that_is_missing_in_the_middle_does_not_reach_back_over_what_came_before) {
  const trace t{{"10 2 work 0x1 enter", "20 2 work 0x1 leave", "40 2 work 0x1 leave"}};
  ASSERT_EQ(t.callbacks().size(), 2u);
  EXPECT_EQ(t.callbacks()[1].begin, 20);
  EXPECT_EQ(t.callbacks()[1].depth, 0);
}

TEST(timeline_spans, a_callback_that_runs_at_the_end_is_unfinished) {
  const trace t{{"10 2 work 0x1 enter", "50 1 work 0x1 submitted"}};
  ASSERT_EQ(t.callbacks().size(), 1u);
  EXPECT_TRUE(t.callbacks()[0].unfinished);
  EXPECT_EQ(t.callbacks()[0].end, 50);
}

TEST(timeline_spans, an_end_that_is_missing_in_the_middle_is_at_the_next_callback_of_the_thread) {
  const trace t{{"10 2 work 0x1 enter", "20 2 timer 0x2 enter", "30 2 timer 0x2 leave", "90 1 work 0x1 submitted"}};
  ASSERT_EQ(t.callbacks().size(), 2u);
  EXPECT_TRUE(t.callbacks()[0].unfinished);
  EXPECT_EQ(t.callbacks()[0].end, 20);
  EXPECT_EQ(t.callbacks()[1].depth, 0);
}

TEST(timeline_spans, a_drain_that_hangs_is_shown_to_the_end) {
  const trace t{{"10 1 work 0x1 drain-begin cancel=0", "99 1 event 0x2 set"}};
  ASSERT_EQ(spans_of(t, span_type::drain).size(), 1u);
  EXPECT_TRUE(spans_of(t, span_type::drain)[0].unfinished);
  EXPECT_EQ(spans_of(t, span_type::drain)[0].end, 99);
}

TEST(timeline_spans, a_destruction_that_ends_on_another_thread_is_no_span) {
  const trace t{{"10 2 work 0x1 destroy-begin", "20 3 work 0x1 destroyed"}};
  EXPECT_TRUE(spans_of(t, span_type::destroy).empty());
  EXPECT_TRUE(t.lines.objects[0].destroyed);
}

TEST(timeline_objects, an_address_that_is_used_again_is_another_object) {
  const trace t{{"1 1 work 0x1 created site=a:1", "2 1 work 0x1 destroyed", "3 1 work 0x1 drain-owed site=a:1",
                 "4 1 work 0x1 created site=b:2", "5 2 work 0x1 enter site=b:2", "6 2 work 0x1 leave"}};
  ASSERT_EQ(t.lines.objects.size(), 2u);
  EXPECT_EQ(t.lines.objects[0].site, "a:1");
  EXPECT_TRUE(t.lines.objects[0].created && t.lines.objects[0].destroyed);
  EXPECT_EQ(t.lines.objects[1].site, "b:2");
  EXPECT_FALSE(t.lines.objects[1].destroyed);
  EXPECT_EQ(t.lines.object_of[2], 0u);
  EXPECT_EQ(t.lines.object_of[4], 1u);
  EXPECT_EQ(t.lines.objects[1].callbacks, 1u);
}

TEST(timeline_objects, each_one_off_submission_is_an_object) {
  const trace t{{"1 1 one-off 0x1 submitted", "2 2 one-off 0x1 enter", "3 2 one-off 0x1 leave",
                 "4 1 one-off 0x1 submitted", "5 2 one-off 0x1 enter", "6 2 one-off 0x1 leave"}};
  EXPECT_EQ(t.lines.objects.size(), 2u);
  EXPECT_EQ(t.causes(2), tool::strings{"submitted 1"});
  EXPECT_EQ(t.causes(5), tool::strings{"submitted 4"});
}

TEST(timeline_objects, kinds_with_the_same_address_are_different_objects_and_a_member_knows_its_group) {
  const trace t{{"1 1 group 0x9 created site=g:1", "2 1 work 0x1 created", "3 1 work 0x1 destroyed",
                 "4 1 timer 0x1 created", "5 1 group 0x9 member member=0x1"}};
  ASSERT_EQ(t.lines.objects.size(), 3u);
  EXPECT_EQ(t.lines.objects[1].group, no_index);
  EXPECT_EQ(t.lines.objects[2].kind, "timer");
  EXPECT_EQ(t.lines.objects[2].group, 0u);
}

TEST(timeline_threads, the_first_thread_comes_first_and_workers_last_by_their_pools) {
  const trace t{{"1 1 pool 0xb created", "2 9 worker 0xb started", "3 5 worker 0xa started", "4 8 event 0x1 set",
                 "5 1 event 0x1 set", "6 3 worker 0xb started"}};
  std::vector<std::uint64_t> numbers;
  for (const auto& thread : t.lines.threads) numbers.push_back(thread.number);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 8, 3, 9, 5}));
  EXPECT_FALSE(t.lines.threads[0].worker);
  EXPECT_EQ(t.lines.threads[0].name, "program");
  EXPECT_TRUE(t.lines.threads[2].worker);
  EXPECT_EQ(t.lines.threads[2].pool, t.lines.threads[3].pool);
  EXPECT_NE(t.lines.threads[3].pool, t.lines.threads[4].pool);
}

TEST(timeline_threads, one_that_runs_callbacks_is_a_worker_although_it_did_not_say_so) {
  const trace t{{"1 4 work 0x1 enter", "2 4 work 0x1 leave"}};
  EXPECT_TRUE(t.lines.threads[0].worker);
}

TEST(timeline_markers, suppressed_rearms_owed_drains_and_exceptions_are_marked) {
  const trace t{{"1 2 timer 0x1 rearm-suppressed", "2 1 work 0x2 drain-owed site=a:1",
                 "3 2 exception 0x0 thrown type=my error", "4 2 exception 0x0 raised code=0xc0000005 address=0x7"}};
  ASSERT_EQ(t.lines.markers.size(), 4u);
  EXPECT_EQ(t.lines.markers[0].kind, marker_kind::suppressed);
  EXPECT_EQ(t.lines.markers[1].kind, marker_kind::owed);
  EXPECT_EQ(t.lines.markers[2].kind, marker_kind::exception);
  EXPECT_EQ(t.lines.markers[3].record, 3u);
  EXPECT_EQ(t.source.records[2].value("type"), "my error");
}

TEST(timeline_summary, the_busiest_objects_and_the_longest_waits_come_first) {
  const trace t{{"1 1 work 0x1 submitted", "2 1 work 0x2 submitted", "10 2 work 0x1 enter", "20 2 work 0x1 leave",
                 "30 2 work 0x2 enter", "90 2 work 0x2 leave"}};
  ASSERT_EQ(t.lines.busiest_objects.size(), 2u);
  EXPECT_EQ(t.lines.objects[t.lines.busiest_objects[0]].address, 2u);
  ASSERT_EQ(t.lines.longest_waits.size(), 2u);
  EXPECT_EQ(t.lines.spans[t.lines.longest_waits[0]].queue_wait(), 28);
  EXPECT_EQ(t.lines.spans[t.lines.longest_waits[1]].queue_wait(), 9);
}

TEST(timeline_summary, a_capture_without_records_is_an_empty_timeline) {
  const trace t{{}};
  EXPECT_TRUE(t.lines.threads.empty() && t.lines.spans.empty() && t.lines.stalls.empty());
  EXPECT_EQ(t.lines.begin, t.lines.end);
}

}  // namespace
