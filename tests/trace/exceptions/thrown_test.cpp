// Exceptions in the trace of a program that observes them.
#include <functional>
#include <stdexcept>
#include <vector>

#include "safe.hpp"
#include "trace/buffer.hpp"
#include "trace/capture_file.hpp"
#include "trace/exceptions.hpp"
#include "trace/recorder.hpp"
#include "trace/thread_segment.hpp"

namespace traces {

/// A name to be found again.
struct rough_sea {
  int waves;
};

namespace {

using namespace tidepool::recorder;
using safe::tally;
using tidepool::trace::category;

class trace_exceptions : public safe::safe_test {};

#ifdef _WIN32
constexpr const char* what_they_do = "raised";
#else
constexpr const char* what_they_do = "thrown";
#endif

void throw_and_catch() {
  try {
    throw rough_sea{7};
  } catch (const rough_sea& caught) {
    EXPECT_EQ(caught.waves, 7);
  }
}

/// Those of the threads for which `chosen` is true.
std::vector<line> seen_of(std::uint64_t thread) {
  std::vector<line> seen;
  for (const line& each : capture_now().of("exception", what_they_do)) {
    if (each.thread == thread) {
      seen.push_back(each);
    }
  }
  return seen;
}

void expect_ours(const line& each) {
#ifdef _WIN32
  EXPECT_EQ(each.values.rfind("code=0x20474343 address=0x", 0), 0u) << each.values;
#else
  EXPECT_EQ(each.values, "type=traces::rough_sea");
#endif
}

TEST_F(trace_exceptions, that_somebody_catches_are_recorded) {
  throw_and_catch();
  const recording on(category::exception);
  EXPECT_EQ(seen_of(contract::this_thread()).size(), 0u);
  throw_and_catch();
  const std::vector<line> seen = seen_of(contract::this_thread());
  ASSERT_EQ(seen.size(), 1u);
  expect_ours(seen[0]);
  EXPECT_EQ(capture_now().facts.count("observer"), 0u);
}

TEST_F(trace_exceptions, of_the_standard_library_are_recorded) {
  const recording on(category::exception);
  EXPECT_THROW(static_cast<void>(std::vector<int>().at(1)), std::out_of_range);
  const std::vector<line> seen = seen_of(contract::this_thread());
  ASSERT_GE(seen.size(), 1u);
#ifndef _WIN32
  EXPECT_EQ(seen.back().values, "type=std::out_of_range");
#endif
}

TEST_F(trace_exceptions, in_callbacks_are_recorded_within_them) {
  const recording on(category::exception | category::delivery);
  tidepool::work object([] { throw_and_catch(); });
  object.submit();
  object.stop_and_drain();
  std::vector<std::string> seen;
  for (const line& each : capture_now().lines) {
    if (each.kind == "work" || each.kind == "exception") {
      seen.push_back(each.action);
    }
  }
  ASSERT_GE(seen.size(), 3u);
  EXPECT_EQ(std::vector<std::string>(seen.end() - 3, seen.end()),
            (std::vector<std::string>{"enter", what_they_do, "leave"}));
}

TEST_F(trace_exceptions, that_are_a_threads_first_record_are_recorded) {
  const recording on(category::exception);
  std::uint64_t thread = 0;
  std::thread([&] {
    thread = contract::this_thread();
    throw_and_catch();
    EXPECT_EQ(own_segment(), nullptr);  // taking one for good would allocate
  }).join();
  const std::vector<line> seen = seen_of(thread);
  ASSERT_EQ(seen.size(), 1u);
  expect_ours(seen[0]);
}

TEST_F(trace_exceptions, in_many_threads_at_once_are_all_recorded) {
  const recording on(category::exception);
  constexpr unsigned threads = 8;
  constexpr unsigned each = 100;
  const std::uint64_t lost_before = lost;
  const std::size_t before = capture_now().of("exception", what_they_do).size();
  tally begun;
  std::vector<std::thread> crowd;
  for (unsigned i = 0; i != threads; ++i) {
    crowd.emplace_back([&, i] {
      if (i % 2 == 0) {
        write(kind::pool, action::set, nullptr, 0, 0);  // it has a segment of its own
      }
      begun.add();
      EXPECT_TRUE(begun.reaches(threads));
      for (unsigned round = 0; round != each; ++round) {
        throw_and_catch();
      }
    });
  }
  for (std::thread& one : crowd) {
    one.join();
  }
  EXPECT_EQ(lost, lost_before);
  EXPECT_EQ(capture_now().of("exception", what_they_do).size() - before, threads * each);
}

TEST_F(trace_exceptions, while_a_record_is_being_made_count_as_lost_and_nothing_else) {
  const recording on(category::exception);
  std::thread([] {
    write(kind::pool, action::set, nullptr, 1, 0);
    segment* const own = own_segment();
    ASSERT_NE(own, nullptr);
    const std::uint32_t held = own->count();
    const std::uint64_t lost_before = lost;
    own->writing = true;  // as in the middle of write()
    throw_and_catch();
    EXPECT_EQ(own->count(), held);
    EXPECT_EQ(lost, lost_before + 1);
    EXPECT_TRUE(own->writing);
    own->writing = false;
    throw_and_catch();
    EXPECT_EQ(own->count(), held + 1);
    EXPECT_EQ(lost, lost_before + 1);
    EXPECT_FALSE(own->writing);
  }).join();
}

TEST_F(trace_exceptions, of_short_lived_threads_take_no_segment_from_others) {
  const recording on(category::exception | category::event);
  constexpr unsigned threads = 5000;
  const capture before = capture_now();
  for (unsigned i = 0; i != threads; ++i) {
    std::thread(&throw_and_catch).join();
  }
  const tidepool::event object(tidepool::reset_mode::automatic);
  object.set();
  const capture after = capture_now();
  EXPECT_EQ(after.lines.back().action, "set");
  EXPECT_EQ(after.number("held") + after.number("lost"),
            before.number("held") + before.number("lost") + threads + 2);  // the event's: created, set
  EXPECT_EQ(after.number("lost"), before.number("lost"));                  // they share segments
}

}  // namespace
}  // namespace traces
