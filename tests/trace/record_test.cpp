// What a record leaves alone, and how its values are written.
#include <cerrno>
#include <chrono>
#include <functional>
#include <limits>

#include "capture_file.hpp"
#include "contract/win32.hpp"
#include "safe.hpp"
#include "trace/buffer.hpp"
#include "trace/exceptions.hpp"
#include "trace/process.hpp"
#include "trace/recorder.hpp"
#include "trace/traced.hpp"

#ifndef _WIN32
#include <sys/mman.h>
#endif

namespace traces {
namespace {

using namespace std::chrono_literals;
using safe::tally;
using tidepool::recorder::action;
using tidepool::recorder::kind;
using tidepool::recorder::text_at;
using tidepool::trace::category;

class trace_records : public safe::safe_test {};

// ---- errors ------------------------------------------------------------------------------------------------------

/// Calls it in a thread with these errors, as its first and as its second.
void expect_errors_unchanged(const std::function<void()>& record) {
  std::thread([&] {
    for (const char* which : {"the thread's first record", "its second", "its last that fits"}) {
      errno = 1234;
      SetLastError(5678);
      record();
      const int error = errno;
      EXPECT_EQ(GetLastError(), DWORD{5678}) << which;
      EXPECT_EQ(error, 1234) << which;
      for (std::uint32_t i = 0; which[4] == 's' && i != tidepool::recorder::segment::capacity; ++i) {
        record();
      }
    }
  }).join();
}

TEST_F(trace_records, leave_errno_and_the_last_error_alone) {
  const recording on(category::all);
  expect_errors_unchanged([] { tidepool::recorder::note<kind::pool, action::set>(nullptr); });
  expect_errors_unchanged([] { tidepool::recorder::write_exception(action::thrown, nullptr, 0, 0); });
  expect_errors_unchanged([] { TRACED(GetCurrentThreadId)(); });
}

TEST_F(trace_records, leave_alone_the_error_that_a_call_sets) {
  const recording on(category::syscall);
  std::thread([] {
    SetLastError(0);
    TRACED(SetLastError)(4321);
    EXPECT_EQ(GetLastError(), DWORD{4321});
  }).join();
}

#ifdef _WIN32
LONG CALLBACK go_on(EXCEPTION_POINTERS* what) {
  return what->ExceptionRecord->ExceptionCode == 0xE0001234 ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

TEST_F(trace_records, of_exceptions_leave_the_last_error_alone_and_have_the_code) {
  const recording on(category::exception);
  void* const handler = AddVectoredExceptionHandler(0, &go_on);
  expect_errors_unchanged([] { RaiseException(0xE0001234, 0, 0, nullptr); });
  RemoveVectoredExceptionHandler(handler);
  const std::vector<line> raised = capture_now().of("exception", "raised");
  ASSERT_GE(raised.size(), 3u);
  EXPECT_EQ(raised.back().values.rfind("code=0xe0001234 address=0x", 0), 0u) << raised.back().values;
}
#endif

// ---- objects -----------------------------------------------------------------------------------------------------

/// One-off callbacks that are all inside at once. Each is submitted from inside the one before, by a thread that has that one's
/// memory at hand if it has been given back. They are no more than a pointer, which needs none.
struct chain {
  static constexpr unsigned length = 8;
  tally inside;
  safe::private_pool pool{length, length};
  std::atomic<unsigned> users = length + 1;  // whoever comes last deletes it

  void submit_next() {
    tidepool::submit(
        [this] {
          inside.add();
          if (inside.count() < length) {
            submit_next();
          }
          EXPECT_TRUE(inside.reaches(length));
          leave();
        },
        pool.environment);
  }
  void leave() {
    if (--users == 0) {
      delete this;
    }
  }
};

TEST_F(trace_records, of_one_off_callbacks_that_run_at_once_have_different_targets) {
  const recording on(category::work);
  auto* const all = new chain;
  all->submit_next();
  EXPECT_TRUE(all->inside.reaches(chain::length));
  all->leave();
  std::vector<std::string> targets;
  for (const line& each : capture_now().of("one-off", "enter")) {
    targets.push_back(each.target);
  }
  ASSERT_EQ(targets.size(), chain::length);
  std::sort(targets.begin(), targets.end());
  EXPECT_EQ(std::unique(targets.begin(), targets.end()), targets.end());
}

std::int64_t value_of(const line& of, const std::string& name) {
  const std::size_t at = of.values.find(name + "=");
  EXPECT_NE(at, std::string::npos) << of.values;
  return at != std::string::npos ? std::stoll(of.values.substr(at + name.size() + 1)) : 0;
}

TEST_F(trace_records, of_timers_say_how_long_from_now) {
  const recording on(category::timer);
  constexpr std::int64_t hour = 3'600'000'000'000;
  tidepool::timer object([] {});
  object.set_after(1h);
  object.set_after_with_window(1h, 5ms);
  object.set_at(std::chrono::system_clock::now() + 1h);
  object.set_at(std::chrono::system_clock::now() + std::chrono::hours(24 * 365 * 90));
  object.stop_and_drain();
  const std::vector<line> armed = capture_now().of("timer", "armed");
  ASSERT_EQ(armed.size(), 4u);
  EXPECT_EQ(armed[0].values, "after_ns=3600000000000 window_ms=0");
  EXPECT_EQ(armed[1].values, "after_ns=3600000000000 window_ms=5");
  EXPECT_LE(value_of(armed[2], "after_ns"), hour);
  EXPECT_GT(value_of(armed[2], "after_ns"), hour - 60'000'000'000);
  EXPECT_GT(value_of(armed[3], "after_ns"), 24 * 365 * 89 * hour);
}

TEST_F(trace_records, of_times_long_ago_are_as_negative_as_numbers_go) {
  const recording on(category::timer);
  tidepool::timer object([] {});
  object.set_at(std::chrono::sys_days(std::chrono::year(1650) / 1 / 1));
  object.set_at(std::chrono::sys_days(std::chrono::year(2000) / 1 / 1));
  object.stop_and_drain();
  const std::vector<line> armed = capture_now().of("timer", "armed");
  ASSERT_GE(armed.size(), 2u);
  EXPECT_LT(value_of(armed[armed.size() - 2], "after_ns"), -9'000'000'000'000'000'000);
  const std::int64_t second = value_of(armed[armed.size() - 1], "after_ns");
  EXPECT_TRUE(second < -800'000'000'000'000'000 && second > -9'000'000'000'000'000'000) << second;
}

TEST_F(trace_records, of_waits_say_how_long_unless_it_is_for_ever) {
  const recording on(category::wait);
  tidepool::wait object(tidepool::event(tidepool::reset_mode::manual), [] {});
  object.arm(1h);
  object.arm();
  object.stop_and_drain();
  const std::vector<line> armed = capture_now().of("wait", "armed");
  ASSERT_EQ(armed.size(), 2u);
  EXPECT_EQ(value_of(armed[0], "timeout_ns"), 3'600'000'000'000);
  EXPECT_EQ(armed[1].values.find("timeout_ns"), std::string::npos) << armed[1].values;
}

// Or whoever sees the event and disarms the object would find it armed again.
TEST_F(trace_records, show_the_events_of_a_run_set_after_its_rearm) {
  const recording on(category::rearm | category::event);
  const tidepool::event over(tidepool::reset_mode::manual);
  tidepool::timer object([&](tidepool::timer_firing& firing) {
    firing.instance().set_event_when_returns(over);
    firing.rearm_after(1h);
  });
  object.set_after(0s);
  over.wait();
  object.stop_and_drain();
  std::vector<std::string> order;
  for (const line& each : capture_now().lines) {
    if ((each.kind == "timer" && each.action == "rearm-leave") || (each.kind == "event" && each.action == "set")) {
      order.push_back(each.action);
    }
  }
  ASSERT_GE(order.size(), 2u);
  order.erase(order.begin(), order.end() - 2);  // of earlier tests
  EXPECT_EQ(order, (std::vector<std::string>{"rearm-leave", "set"}));
}

// ---- text --------------------------------------------------------------------------------------------------------

TEST_F(trace_records, have_the_text_at_an_address) {
  static const char text[] = "here/it is.cpp";
  EXPECT_EQ(text_at(reinterpret_cast<std::uintptr_t>(text)), "here/it is.cpp");
  EXPECT_EQ(text_at(reinterpret_cast<std::uintptr_t>("")), "");
  const std::string long_one(3 * 4096, 'x');
  const std::string read = text_at(reinterpret_cast<std::uintptr_t>(long_one.c_str()));
  EXPECT_GE(read.size(), 1000u);
  EXPECT_EQ(read, long_one.substr(0, read.size()));
  EXPECT_EQ(text_at(0), "?");
  EXPECT_EQ(text_at(8), "?");
}

/// Two pages, of which the second can not be read.
class page {
 public:
#ifdef _WIN32
  page() : start_(static_cast<char*>(VirtualAlloc(nullptr, 2 * size, MEM_RESERVE, PAGE_READWRITE))) {
    EXPECT_NE(VirtualAlloc(start_, size, MEM_COMMIT, PAGE_READWRITE), nullptr);
  }
  void drop() { EXPECT_NE(VirtualFree(start_, 0, MEM_RELEASE), FALSE); }
#else
  page()
      : start_(
            static_cast<char*>(mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(munmap(start_ + size, size), 0);
  }
  void drop() { EXPECT_EQ(munmap(start_, size), 0); }
#endif

  /// Puts it at the very end, its final null byte included or not.
  const char* put_at_the_end(const std::string& text, bool with_end) {
    const std::size_t length = text.size() + (with_end ? 1 : 0);  // c_str() has the null byte too
    return std::copy_n(text.c_str(), length, start_ + size - length) - length;
  }

 private:
  static constexpr std::size_t size = 65536;
  char* start_;
};

TEST_F(trace_records, have_a_question_mark_for_text_that_is_gone) {
  SKIP_UNDER_WINE("ReadProcessMemory finds null bytes where nothing is");
  page where;
  EXPECT_EQ(text_at(reinterpret_cast<std::uintptr_t>(where.put_at_the_end("last words", true))), "last words");
  const char* const unended = where.put_at_the_end("unended", false);
  EXPECT_EQ(text_at(reinterpret_cast<std::uintptr_t>(unended)), "?");
  const recording on(category::work);
  const char* const name = where.put_at_the_end("gone.cpp", true);
  tidepool::recorder::write(kind::work, action::created, nullptr, reinterpret_cast<std::uintptr_t>(name), 12);
  EXPECT_EQ(capture_now().lines.back().values, "site=gone.cpp:12");
  where.drop();
  const capture seen = capture_now();
  EXPECT_TRUE(seen.whole);
  EXPECT_EQ(seen.lines.back().values, "site=?:12");
}

TEST_F(trace_records, stay_on_their_line_whatever_the_text) {
  const recording on(category::work | category::exception);
  static const char name[] =
      "a\nb\rc\td\x1b"
      "e\x7f f\xc3\xa4.cpp";
  tidepool::recorder::write(kind::work, action::created, nullptr, reinterpret_cast<std::uintptr_t>(name), 12);
  EXPECT_EQ(capture_now().lines.back().values, "site=a?b?c?d?e? f\xc3\xa4.cpp:12");
  tidepool::recorder::write(kind::exception, action::thrown, nullptr, reinterpret_cast<std::uintptr_t>(name), 0);
  const capture seen = capture_now();
  EXPECT_TRUE(seen.whole);
  EXPECT_EQ(seen.lines.back().values, "type=a?b?c?d?e? f\xc3\xa4.cpp");
}

}  // namespace
}  // namespace traces
