#include "capture.hpp"

#include <gtest/gtest.h>

#include "timeline_page.hpp"
#include "traces.hpp"

namespace {

using tool::capture;
using tool::read_capture;
using tool::refusal_of;
using tool::strings;

const std::string head = "tidepool capture 1\nprocess 7 /bin/program with blanks\nsystem linux\nbegan 1764494032.5\n";

capture read(std::string_view text) {
  std::string refusal;
  auto result = read_capture({text.begin(), text.end()}, refusal);
  EXPECT_TRUE(result.has_value()) << refusal;
  return result ? std::move(*result) : capture{};
}

TEST(capture, facts_threads_and_records_are_read) {
  const capture found =
      read(head +
           "categories work,timer\nignored wrok\nheld 2\nlost 3\nthread 7 main\nthread 9 \nrecords\n"
           "5 7 work 0xff created site=/a b/c=d.cpp:1\n6 9 timer 0x10 armed after_ns=7 window_ms=0\nend\n");
  EXPECT_EQ(found.problems, strings{});
  EXPECT_EQ(found.process, "/bin/program with blanks");
  EXPECT_EQ(found.process_number, 7u);
  EXPECT_EQ(found.system, "linux");
  EXPECT_EQ(found.began, "1764494032.5");
  EXPECT_EQ(found.categories, "work,timer");
  EXPECT_EQ(found.ignored, "wrok");
  EXPECT_EQ(found.lost, 3u);
  EXPECT_EQ(found.threads.at(7), "main");
  EXPECT_EQ(found.threads.at(9), "");
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.records[0].time, 5);
  EXPECT_EQ(found.records[0].thread, 7u);
  EXPECT_TRUE(found.records[0].is("work", "created"));
  EXPECT_EQ(found.records[0].target, 0xffu);
  EXPECT_EQ(found.records[0].value("site"), "/a b/c=d.cpp:1");
  EXPECT_EQ(found.records[1].number("after_ns"), 7);
  EXPECT_EQ(found.records[1].number("window_ms"), 0);
  EXPECT_EQ(found.records[1].value("site"), std::nullopt);
}

TEST(capture, what_is_unknown_is_no_damage) {
  const capture found =
      read(head + "weather fine\nheld 1\nlost 0\nrecords\n5 7 novelty 0x0 appeared colour=blue\nend\n");
  EXPECT_EQ(found.problems, strings{});
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_EQ(found.records[0].value("colour"), "blue");
}

TEST(capture, a_text_that_is_no_capture_is_refused) {
  EXPECT_EQ(refusal_of("tidepool capture 1\n"), std::nullopt);
  EXPECT_EQ(refusal_of("tidepool capture 1"), std::nullopt);
  EXPECT_EQ(refusal_of("tidepool capture 1\r\nprocess"), std::nullopt);
  EXPECT_EQ(refusal_of("tidepool capture 2\n"), "is a capture of version 2; this tidepool reads version 1");
  EXPECT_EQ(refusal_of("tidepool capture 1.5\n"), "is a capture of version 1.5; this tidepool reads version 1");
  EXPECT_EQ(refusal_of(""), "is empty, and so no capture");
  EXPECT_EQ(refusal_of("\x7F"
                       "ELF\n"),
            "is not a capture: its first line is not \"tidepool capture 1\"");
  std::string refusal;
  EXPECT_FALSE(read_capture({'x', '\n'}, refusal).has_value());
  EXPECT_EQ(refusal, "is not a capture: its first line is not \"tidepool capture 1\"");
}

TEST(capture, one_that_is_cut_off_says_so_and_keeps_its_whole_lines) {
  const capture found =
      read(head + "held 3\nlost 0\nrecords\n5 7 work 0x1 submitted\n6 7 work 0x1 submitted\n7 7 work 0x1 subm");
  EXPECT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.problems, (strings{"The capture is cut off: its last line, \"end\", is missing.",
                                     "The capture announces 3 records, and 2 could be read."}));
}

TEST(capture, one_that_is_cut_off_among_its_facts_says_so) {
  const capture found = read("tidepool capture 1\nprocess 7 /bin/pro");
  EXPECT_EQ(found.process, "");
  EXPECT_EQ(found.problems, strings{"The capture is cut off: its last line, \"end\", is missing."});
}

TEST(capture, an_end_without_a_line_feed_is_an_end) {
  EXPECT_EQ(read(head + "held 0\nlost 0\nrecords\nend").problems, strings{});
}

TEST(capture, lines_that_make_no_sense_are_left_out_and_counted) {
  const std::string_view lines[] = {"",
                                    "5",
                                    "x 7 work 0x1 enter",
                                    "-5 7 work 0x1 enter",
                                    "5 7 work 12 enter",
                                    "5 7 wo\trk 0x1 enter",
                                    "5 7 work 0x1",
                                    "5 7 work 0x1 enter nonsense",
                                    "99999999999999999999 7 work 0x1 enter",
                                    "9999999999999999999 7 work 0x1 enter",
                                    "5 7 work 0x1 enter =x"};
  for (const std::string_view line : lines) {
    const capture found = read(head + "held 1\nlost 0\nrecords\n" + std::string{line} + "\n6 7 work 0x1 enter\nend\n");
    EXPECT_EQ(found.records.size(), 1u) << line;
    EXPECT_EQ(found.problems, strings{"A line makes no sense and is left out (line 8)."}) << line;
  }
}

TEST(capture, not_all_damaged_lines_are_listed) {
  const capture found = read(head + "held 0\nlost 0\nrecords\n?\n?\n?\n?\n?\n?\nend\n");
  EXPECT_EQ(found.problems, strings{"6 lines make no sense and are left out (lines 8, 9, 10, 11, 12, …)."});
}

TEST(capture, records_out_of_order_are_sorted_and_reported) {
  const capture found =
      read(head + "held 3\nlost 0\nrecords\n6 7 work 0x1 enter\n5 7 work 0x1 submitted\n7 7 work 0x1 leave\nend\n");
  ASSERT_EQ(found.records.size(), 3u);
  EXPECT_EQ(found.records[0].action, "submitted");
  EXPECT_EQ(found.problems, strings{"1 record is not in the order of time; they have been put into it."});
}

TEST(capture, what_follows_the_end_is_left_out_and_reported) {
  const capture found = read(head + "held 0\nlost 0\nrecords\nend\n6 7 work 0x1 enter\n");
  EXPECT_EQ(found.records.size(), 0u);
  EXPECT_EQ(found.problems, strings{"Something follows the capture's end; it is left out."});
}

TEST(capture, lines_that_end_as_those_of_windows_are_read) {
  const capture found = read(
      "tidepool capture 1\r\nprocess 7 a\r\nheld 1\r\nlost 0\r\nrecords\r\n5 7 work 0x1 enter site=a:1\r\nend\r\n");
  EXPECT_EQ(found.problems, strings{});
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_EQ(found.records[0].value("site"), "a:1");
}

TEST(capture, lost_records_unknown_categories_and_a_missing_observer_are_no_damage_but_said) {
  const capture found = read(head + "ignored wrok\nobserver absent\nheld 0\nlost 2\nrecords\nend\n");
  EXPECT_EQ(found.problems, strings{});
  const strings said = tool::notices_of(found);
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said[0], "The capture holds no records.");
  EXPECT_NE(said[1].find("2 records before the first are lost"), std::string::npos);
  EXPECT_NE(said[2].find("wrok"), std::string::npos);
  EXPECT_NE(said[3].find("exception_observer"), std::string::npos);
  EXPECT_TRUE(tool::notices_of(read(head + "held 1\nlost 0\nrecords\n5 7 work 0x1 enter\nend\n")).empty());
}

}  // namespace
