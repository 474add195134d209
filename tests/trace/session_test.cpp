// From what the environment asks for to the capture. A death test's process begins anew, with the environment that its test
// has set, and its trace from its beginning.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "capture_file.hpp"
#include "safe.hpp"
#include "trace/events.hpp"
#include "trace/session.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/wait.h>
#endif

namespace traces {
namespace {

using safe::gate;
using safe::tally;
using tidepool::trace::category;

class trace_session : public safe::safe_test {};
class trace_parsing : public testing::Test {};

// ---- the list of categories --------------------------------------------------------------------------------

std::pair<std::uint32_t, std::string> parsed(const char* list) {
  std::string unknown;
  const std::uint32_t categories = tidepool::recorder::parse_categories(list, unknown);
  return {categories, unknown};
}

TEST_F(trace_parsing, knows_each_category_by_its_name) {
  std::uint32_t bit = 1;
  std::string all;
  for (const char* name : tidepool::recorder::category_names) {
    EXPECT_EQ(parsed(name), std::make_pair(bit, std::string()));
    all += (all.empty() ? "" : ",") + std::string(name);
    bit <<= 1;
  }
  EXPECT_EQ(parsed(all.c_str()), std::make_pair(std::uint32_t{tidepool::recorder::every_category}, std::string()));
  EXPECT_EQ(parsed("all"), std::make_pair(std::uint32_t{tidepool::recorder::every_category}, std::string()));
}

TEST_F(trace_parsing, gives_each_category_the_value_that_the_public_one_has) {
  const std::pair<const char*, category> all[] = {{"work", category::work},       {"timer", category::timer},
                                                  {"wait", category::wait},       {"io", category::io},
                                                  {"group", category::group},     {"pool", category::pool},
                                                  {"event", category::event},     {"delivery", category::delivery},
                                                  {"rearm", category::rearm},     {"teardown", category::teardown},
                                                  {"syscall", category::syscall}, {"exception", category::exception},
                                                  {"report", category::report},   {"all", category::all}};
  for (const auto& [name, value] : all) {
    EXPECT_EQ(parsed(name).first, static_cast<std::uint32_t>(value)) << name;
  }
}

TEST_F(trace_parsing, passes_over_what_it_does_not_know_and_says_so) {
  using namespace tidepool::recorder;
  EXPECT_EQ(parsed(""), std::make_pair(0u, std::string()));
  EXPECT_EQ(parsed("wrok"), std::make_pair(0u, std::string("wrok")));
  EXPECT_EQ(parsed("wrok,timer,works"), std::make_pair(std::uint32_t{timer_category}, std::string("wrok,works")));
  EXPECT_EQ(parsed(",,io,,"), std::make_pair(std::uint32_t{io_category}, std::string()));
  EXPECT_EQ(parsed("io, wait"), std::make_pair(std::uint32_t{io_category}, std::string(" wait")));
  EXPECT_EQ(parsed("ALL"), std::make_pair(0u, std::string("ALL")));
}

// ---- switching it on in the program --------------------------------------------------------------------------

TEST_F(trace_session, records_nothing_until_somebody_asks_for_it) {
  ASSERT_TRUE(tidepool::trace::is_available());
  ASSERT_EQ(tidepool::trace::enabled(), category::none);
  const std::uint64_t before = capture_now().number("held");
  tidepool::event object(tidepool::reset_mode::automatic);
  object.set();
  EXPECT_EQ(capture_now().number("held"), before);
  {
    const recording on(category::event);
    EXPECT_EQ(tidepool::trace::enabled(), category::event);
    object.set();
  }
  EXPECT_EQ(tidepool::trace::enabled(), category::none);
  object.set();
  const capture seen = capture_now();
  EXPECT_EQ(seen.number("held"), before + 1);
  EXPECT_EQ(seen.of("event", "set").size(), 1u);
  EXPECT_TRUE(seen.whole);
}

TEST_F(trace_session, names_in_the_capture_what_is_on_then) {
  const recording on(category::work | category::io);
  EXPECT_EQ(capture_now().facts.at("categories"), "work,io");
  tidepool::trace::enable(static_cast<category>(~0u));
  EXPECT_EQ(tidepool::trace::enabled(), category::all);
  tidepool::trace::enable(category::none);
  EXPECT_EQ(capture_now().facts.at("categories"), "");
}

TEST_F(trace_session, has_the_facts_that_the_format_names) {
  const recording on(category::event);
  tidepool::event(tidepool::reset_mode::automatic).set();
  const capture seen = capture_now();
  std::vector<std::string> names;
  for (const auto& [name, value] : seen.facts) {
    names.push_back(name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"began", "categories", "held", "lost", "process", "system"}));
  EXPECT_EQ(seen.number("process"), static_cast<std::uint64_t>(getpid()));
  EXPECT_NE(seen.facts.at("process").find("trace_tests"), std::string::npos);
#ifdef _WIN32
  EXPECT_EQ(seen.facts.at("system"), "windows");
#else
  EXPECT_EQ(seen.facts.at("system"), "linux");
#endif
  EXPECT_EQ(seen.number("held"), seen.lines.size());
  EXPECT_EQ(seen.threads.count(contract::this_thread()), 1u);
  for (const line& each : seen.lines) {
    EXPECT_EQ(seen.threads.count(each.thread), 1u);
    EXPECT_EQ(each.target.substr(0, 2), "0x");
  }
  EXPECT_TRUE(std::is_sorted(seen.lines.begin(), seen.lines.end(),
                             [](const line& a, const line& b) { return a.time < b.time; }));
}

TEST_F(trace_session, may_be_written_by_several_threads_while_others_record) {
  const recording on(category::event);
  std::atomic<bool> enough = false;
  std::vector<std::thread> crowd;
  tally begun;
  for (int i = 0; i != 2; ++i) {
    crowd.emplace_back([&] {
      const tidepool::event object(tidepool::reset_mode::automatic);
      begun.add();
      while (!enough) {
        object.set();
      }
    });
  }
  EXPECT_TRUE(begun.reaches(2));
  std::thread other([] {
    for (int i = 0; i != 3; ++i) {
      EXPECT_TRUE(capture_now().whole);
    }
  });
  for (int i = 0; i != 3; ++i) {
    const capture seen = capture_now();
    EXPECT_TRUE(seen.whole);
    EXPECT_EQ(seen.number("held"), seen.lines.size());
  }
  other.join();
  enough = true;
  for (std::thread& each : crowd) {
    each.join();
  }
}

TEST_F(trace_session, replaces_a_capture_that_is_there) {
  const scratch_path file;
  {
    std::ofstream(file.path()) << std::string(1'000'000, 'x');
  }
  tidepool::trace::write(file.path());
  EXPECT_TRUE(read(file.path()).whole);
}

// ---- where it can not be written ---------------------------------------------------------------------------------

std::string message_of_writing_to(const std::filesystem::path& file) {
  try {
    tidepool::trace::write(file);
  } catch (const std::system_error& error) {
    EXPECT_NE(error.code().value(), 0);
    EXPECT_EQ(error.code().category(), std::generic_category());
    return error.what();
  }
  ADD_FAILURE() << file << " is written";
  return {};
}

TEST_F(trace_session, says_which_file_could_not_be_written) {
  const std::filesystem::path nowhere = std::filesystem::path(testing::TempDir()) / "not-there" / "capture.txt";
  EXPECT_NE(message_of_writing_to(nowhere).find("not-there"), std::string::npos);
  EXPECT_NE(message_of_writing_to(testing::TempDir()).find(testing::TempDir()), std::string::npos);
}

#ifndef _WIN32
TEST_F(trace_session, says_that_there_is_no_space) {
  const std::string small = message_of_writing_to("/dev/full");
  EXPECT_NE(small.find("/dev/full"), std::string::npos);
  EXPECT_NE(small.find("No space left"), std::string::npos) << small;
  const recording on(category::event);
  const tidepool::event object(tidepool::reset_mode::automatic);
  for (int i = 0; i != 2000; ++i) {
    object.set();
  }
  EXPECT_NE(message_of_writing_to("/dev/full").find("No space left"), std::string::npos);
}
#endif

// ---- by the environment ------------------------------------------------------------------------------------------

/// What the capture of a process says that TIDEPOOL_TRACE asks for `categories`.
#define EXPECT_CAPTURE_OF(statement, how, message, seen)                               \
  const scratch_path file_of_capture;                                                  \
  const variable name_of_file("TIDEPOOL_TRACE_FILE", file_of_capture.path().string()); \
  EXPECT_EXIT(statement, how, message);                                                \
  ASSERT_TRUE(file_of_capture.is_there());                                             \
  const capture seen = read(file_of_capture.path());                                   \
  EXPECT_TRUE(seen.whole) << seen.text.substr(seen.text.size() - std::min<std::size_t>(seen.text.size(), 500))

/// In a death test's process, whose test sets another for nobody.
const std::string asked_for_before_main =
    std::getenv("TIDEPOOL_TRACE_FILE") != nullptr ? std::getenv("TIDEPOOL_TRACE_FILE") : "";

/// A record that nothing else makes.
void leave_a_record() { tidepool::event(tidepool::reset_mode::manual).reset(); }

void expect_left(const capture& seen) { EXPECT_EQ(seen.of("event", "reset").size(), 1u) << seen.text.substr(0, 2000); }

[[noreturn]] void leave_a_record_and_exit() {
  leave_a_record();
  std::exit(7);
}

TEST_F(trace_session, of_a_process_that_calls_exit_is_written) {
  const variable asked("TIDEPOOL_TRACE", "event,wrok");
  EXPECT_CAPTURE_OF(leave_a_record_and_exit(), testing::ExitedWithCode(7), "^$", seen);
  expect_left(seen);
  EXPECT_EQ(seen.facts.at("categories"), "event");
  EXPECT_EQ(seen.facts.at("ignored"), "wrok");
  EXPECT_EQ(seen.facts.count("observer"), 0u);
}

TEST_F(trace_session, is_of_everything_if_only_a_file_is_asked_for) {
  EXPECT_CAPTURE_OF(leave_a_record_and_exit(), testing::ExitedWithCode(7), "^$", seen);
  expect_left(seen);
  EXPECT_EQ(seen.facts.at("categories"),
            "work,timer,wait,io,group,pool,event,delivery,rearm,teardown,syscall,exception,report");
  EXPECT_EQ(seen.facts.count("ignored"), 0u);
}

TEST_F(trace_session, says_that_nobody_observes_exceptions) {
  EXPECT_CAPTURE_OF(leave_a_record_and_exit(), testing::ExitedWithCode(7), "^$", seen);
#ifdef _WIN32
  EXPECT_EQ(seen.facts.count("observer"), 0u);
#else
  EXPECT_EQ(seen.facts.at("observer"), "absent");
#endif
}

TEST_F(trace_session, has_what_the_destructors_of_static_objects_do) {
  const variable asked("TIDEPOOL_TRACE", "event");
  EXPECT_CAPTURE_OF(
      {
        static const struct at_the_end {
          ~at_the_end() { leave_a_record(); }
        } last;
        std::exit(7);
      },
      testing::ExitedWithCode(7), "^$", seen);
  expect_left(seen);
}

TEST_F(trace_session, has_the_number_of_the_process_where_the_name_of_the_file_asks_for_it) {
  const scratch_path base;
  const variable asked("TIDEPOOL_TRACE", "event");
  const variable file("TIDEPOOL_TRACE_FILE", base.path().string() + ".%p.%%p");
  EXPECT_EXIT(leave_a_record_and_exit(), testing::ExitedWithCode(7), "^$");
  std::vector<std::filesystem::path> found;
  for (const auto& each : std::filesystem::directory_iterator(base.path().parent_path())) {
    if (each.path().filename().string().rfind(base.path().filename().string(), 0) == 0) {
      found.push_back(each.path());
    }
  }
  ASSERT_EQ(found.size(), 1u);
  const capture seen = read(found[0]);
  std::filesystem::remove(found[0]);
  expect_left(seen);
  const std::string number = std::to_string(seen.number("process"));
  EXPECT_EQ(found[0].filename().string(), base.path().filename().string() + "." + number + ".%" + number);
}

TEST_F(trace_session, that_can_not_be_written_harms_nobody) {
  const variable asked("TIDEPOOL_TRACE", "all");
  for (const std::string& path :
       {(std::filesystem::path(testing::TempDir()) / "not-there" / "x").string(), std::string(testing::TempDir()),
        std::string(9000, 'x'), std::string(2100, '%') + "p"}) {
    const variable file("TIDEPOOL_TRACE_FILE", path);
    EXPECT_EXIT(leave_a_record_and_exit(), testing::ExitedWithCode(7), "^$");
  }
}

// ---- ends that are none of exit's ----------------------------------------------------------------------------------

void wait_for_the_end() {
  gate never;
  static_cast<void>(never.pass());
}

#ifdef _WIN32
const auto died = testing::ExitedWithCode(3);
#else
const auto died = testing::KilledBySignal(SIGABRT);
#endif

TEST_F(trace_session, is_written_by_a_message_that_ends_the_process) {
  EXPECT_CAPTURE_OF(
      {
        leave_a_record();
        std::unique_ptr<tidepool::work> object;
        object = std::make_unique<tidepool::work>([&] { object.reset(); });
        object->submit();
        wait_for_the_end();
      },
      died, "is being destroyed inside its own callback", seen);
  expect_left(seen);
  EXPECT_EQ(seen.of("work", "enter").size(), 1u);
  EXPECT_EQ(seen.of("work", "leave").size(), 0u);
}

TEST_F(trace_session, is_written_when_an_exception_leaves_a_callback) {
  EXPECT_CAPTURE_OF(
      {
        leave_a_record();
        tidepool::work object([] { throw std::runtime_error("the sea is too rough"); });
        object.submit();
        wait_for_the_end();
      },
      died, "the sea is too rough", seen);
  expect_left(seen);
  EXPECT_EQ(seen.of("work", "enter").size(), 1u);
}

#ifdef TIDEPOOL_FAIL_FAST
TEST_F(trace_session, is_written_when_a_drain_was_owed) {
  EXPECT_CAPTURE_OF(
      {
        leave_a_record();
        tidepool::work object([] {});
        object.submit();
      },
      died, "was destroyed while it still owed a drain", seen);
  expect_left(seen);
  EXPECT_EQ(seen.of("work", "drain-owed").size(), 1u);
}
#endif

TEST_F(trace_session, is_whole_when_several_threads_end_the_process_at_once) {
  // With enough to write that they meet.
  EXPECT_CAPTURE_OF(
      {
        const tidepool::event object(tidepool::reset_mode::automatic);
        for (int i = 0; i != 30'000; ++i) {
          object.set();
        }
        leave_a_record();
        tally inside;
        std::vector<std::thread> crowd;
        for (int i = 0; i != 3; ++i) {
          crowd.emplace_back([&] {
            inside.add();
            static_cast<void>(inside.reaches(4));
            throw std::runtime_error("the sea is too rough");
          });
        }
        inside.add();
        static_cast<void>(inside.reaches(4));
        std::terminate();
      },
      died, "", seen);
  expect_left(seen);
}

#ifndef _WIN32
TEST_F(trace_session, is_not_written_by_the_child_of_a_fork) {
  const variable asked("TIDEPOOL_TRACE", "event");
  EXPECT_CAPTURE_OF(
      {
        leave_a_record();
        const pid_t child = fork();
        if (child == 0) {
          leave_a_record();
          std::exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        const bool by_child = std::filesystem::exists(asked_for_before_main);
        std::exit(status == 0 && !asked_for_before_main.empty() && !by_child ? 7 : 8);
      },
      testing::ExitedWithCode(7), "", seen);
  expect_left(seen);
}
#endif

}  // namespace
}  // namespace traces
