// What the child of a fork can do with the pool: everything, if its parent had not used it; otherwise exec and _exit, and
// whatever else needs the pool ends it with a message. It never hangs.
#ifndef _WIN32
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/win32.hpp"
#include "ending_kinds.hpp"
#include "engine/stall_fault.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

/// How a child ended, and what it wrote to its standard error stream.
struct ending {
  int status = -1;
  std::string text;

  [[nodiscard]] bool exited_with(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
  [[nodiscard]] bool was_refused() const {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
           text.find("tidepool: this process was forked") != std::string::npos;
  }
};

std::ostream& operator<<(std::ostream& to, const ending& what) {
  if (WIFSIGNALED(what.status)) {
    return to << "died of " << strsignal(WTERMSIG(what.status)) << ": " << what.text;
  }
  return to << "exited with " << WEXITSTATUS(what.status) << ": " << what.text;
}

/// Runs `what` in a child, which a signal ends if it hangs.
ending in_a_child(const std::function<void()>& what) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(static_cast<unsigned>(patience.count()));
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    what();
    _exit(0);
  }
  close(ends[1]);
  ending result;
  char part[512];
  for (ssize_t size; (size = read(ends[0], part, sizeof part)) > 0;) {
    result.text.append(part, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  EXPECT_EQ(waitpid(child, &result.status, 0), child);
  return result;
}

// ---- when the parent has used the pool ------------------------------------------------------------------

/// Objects of every kind that have been used and are idle, and some that are live, while threads of the pool run.
class forks : public safe_test {
 protected:
  forks() {
    for (const auto& start : {std::function<void()>([this] { work.start(); }),
                              {[this] { timer.start(); }},
                              {[this] { ticker.start(); }},
                              {[this] { wait.start(); }},
                              {[this] { reads.start(); }}}) {
      const unsigned before = calls.count();
      start();
      EXPECT_TRUE(calls.reaches(before + 1));
    }
    work.drain();
    timer.drain();
    ticker.drain();
    wait.drain();
    reads.drain();
    far_away.set_after(1h);
    listener.arm();
    on_pipe.read(std::string(1, ' '), [](const transfer<std::string>&) {});
  }

  ~forks() override {
    far_away.stop_and_drain();
    listener.stop_and_drain();
    on_pipe.cancel_all();
    on_pipe.run_down();
  }

  tally calls;
  ending_callback note = [this](const again&) { calls.add(); };
  private_pool pool{2};
  ending_work::object work{note};
  ending_timer::object timer{note, pool.environment};
  ending_periodic_timer::object ticker{note};
  ending_wait::object wait{note, pool.environment};
  ending_io::object reads{note};
  tidepool::timer far_away{[] {}};
  tidepool::event never{tidepool::reset_mode::manual};
  tidepool::wait listener{never, [] {}};
  std::pair<endpoint, endpoint> ends = endpoint::make_pipe();
  io on_pipe{std::move(ends.first)};
  occupier busy{tidepool::callback_environment()};
};

TEST_F(forks, of_a_process_that_uses_the_pool_can_exit_at_once_and_execute_others) {
  ASSERT_TRUE(busy.held());
  EXPECT_PRED1([](const ending& how) { return how.exited_with(7); }, in_a_child([] { _exit(7); }));
  EXPECT_PRED1([](const ending& how) { return how.exited_with(0); },
               in_a_child([] { execl("/bin/true", "true", static_cast<char*>(nullptr)); }));
}

TEST_F(forks, of_a_process_that_uses_the_pool_are_refused_whatever_needs_a_thread) {
  ASSERT_TRUE(busy.held());
  const struct {
    const char* name;
    std::function<void()> act;
  } acts[] = {
      {"submit a work", [&] { work.start(); }},
      {"submit a one-off", [] { tidepool::submit([] {}); }},
      {"submit a large one-off",
       [] { tidepool::submit([large = std::array<char, 1000>()] { static_cast<void>(large); }); }},
      {"submit to a private pool", [&] { tidepool::submit([] {}, pool.environment); }},
      {"set a timer", [&] { timer.start(); }},
      {"set a timer for later", [&] { far_away.set_after(2h); }},
      {"start a periodic timer", [&] { ticker.start(); }},
      {"arm a wait that is signalled", [&] { wait.start(); }},
      {"signal what a wait waits for", [&] { never.set(); }},
      {"start a request", [&] { reads.start(); }},
      {"start a request that is refused", [&] { on_pipe.accept([] {}); }},
      {"drain what runs", [&] { on_pipe.run_down(); }},
      {"make a work", [] { const tidepool::work fresh([] {}); }},
      {"make a pool",
       [] {
         const private_pool fresh(1);
         tidepool::submit([] {}, fresh.environment);
       }},
      {"set a minimum", [&] { pool.pool.set_min_threads(8); }},
      {"wait for an event", [&] { never.wait(); }},
  };
  for (const auto& each : acts) {
    const ending how = in_a_child(each.act);
    EXPECT_TRUE(how.was_refused()) << each.name << ": " << how;
  }
}

TEST_F(forks, of_a_process_that_uses_the_pool_can_disarm_and_ask_and_wait_for_nothing) {
  ASSERT_TRUE(busy.held());
  const ending how = in_a_child([&] {
    work.drain();
    timer.drain();
    wait.drain();
    far_away.disarm();
    if (far_away.is_set()) {
      _exit(1);
    }
    listener.disarm();
    tidepool::event fresh(tidepool::reset_mode::manual);
    fresh.set();
    if (!fresh.wait_for(0s)) {
      _exit(2);
    }
  });
  EXPECT_TRUE(how.exited_with(0)) << how;
}

TEST_F(forks, of_a_process_with_a_stalled_pool_are_refused_what_would_wait_there_and_leave_it_stalled) {
  ASSERT_TRUE(busy.held());
  const private_pool stuck(1);
  const auto native = tidepool::unsafe::native_handle(stuck.pool);
  tidepool::engine::inject_stall_fault(native, {1h, 1, 1});
  const tidepool::event set(tidepool::reset_mode::manual, true);
  tidepool::wait victim(set, [] {}, stuck.environment);
  victim.arm();
  tidepool::unsafe::try_cancel_pending_without_healing(victim);
  const ending how = in_a_child([&] { victim.arm(); });
  EXPECT_TRUE(how.was_refused()) << how;
  EXPECT_TRUE(tidepool::engine::has_stalled(native));
  victim.stop_and_drain();
}

#ifndef TIDEPOOL_NO_SELF_HEAL
// Nobody in the child could repair the pool, and nothing of the wait is queued there.
TEST_F(forks, of_a_process_that_owes_a_repair_do_not_owe_it) {
  const PTP_POOL foreign = CreateThreadpool(nullptr);
  SetThreadpoolThreadMaximum(foreign, 1);
  tidepool::callback_environment where;
  tidepool::unsafe::set_pool(where, foreign);
  {
    occupier holds_it(where);
    ASSERT_TRUE(holds_it.held());
    std::optional<tidepool::wait> owing(std::in_place, never, [] {}, where);
    owing->try_cancel_pending();
    const ending how = in_a_child([&] { owing.reset(); });
    EXPECT_TRUE(how.exited_with(0)) << how;
  }
  CloseThreadpool(foreign);
}
#endif

TEST_F(forks, leave_the_parent_alone) {
  SKIP_WHEN_FAILING_FAST();
  ASSERT_TRUE(busy.held());
  static_cast<void>(in_a_child([&] { far_away.set_after(0s); }));
  static_cast<void>(in_a_child([&] { on_pipe.cancel_all(); }));
  // What is idle can be destroyed in the child, and what only listens; a descriptor that is waited for is the parent's too.
  int counter[2];
  ASSERT_EQ(pipe(counter), 0);
  tally readable;
  std::optional<tidepool::wait> on_descriptor(std::in_place, tidepool::waitable_handle::from_descriptor(counter[0]),
                                              [&] { readable.add(); });
  on_descriptor->arm();
  std::optional<tidepool::timer> idle(std::in_place, [] {});
  const ending how = in_a_child([&] {
    on_descriptor.reset();
    idle.reset();
  });
  EXPECT_TRUE(how.exited_with(0)) << how;
  EXPECT_EQ(write(counter[1], "x", 1), 1);
  EXPECT_TRUE(readable.reaches(1));
  on_descriptor->stop_and_drain();
  close(counter[0]);
  close(counter[1]);
  EXPECT_TRUE(far_away.is_set());
  EXPECT_EQ(on_pipe.outstanding(), 1u);
  for (const auto& start : {std::function<void()>([this] { work.start(); }),
                            {[this] { timer.start(); }},
                            {[this] { wait.start(); }},
                            {[this] { reads.start(); }}}) {
    const unsigned before = calls.count();
    start();
    EXPECT_TRUE(calls.reaches(before + 1));
  }
  tally fired;
  tidepool::timer soon([&] { fired.add(); });
  soon.set_after(1ms);
  EXPECT_TRUE(fired.reaches(1));
  soon.stop_and_drain();
  io writer(std::move(ends.second));
  writer.write(std::string("x"), [] {});
  writer.run_down();
  on_pipe.run_down();  // the read was answered
}

TEST_F(forks, in_a_callback_can_execute_others_and_do_not_go_on_with_the_parents_callbacks) {
  tally done;
  tidepool::work forks_itself([&] {
    EXPECT_PRED1([](const ending& how) { return how.exited_with(0); },
                 in_a_child([] { execl("/bin/true", "true", static_cast<char*>(nullptr)); }));
    done.add();
  });
  forks_itself.submit();
  EXPECT_TRUE(done.reaches(1));
  forks_itself.stop_and_drain();

  // A child that returns from the callback, with others queued behind it.
  std::atomic<pid_t> child = -1;
  std::atomic<int> ran = 0;
  const pid_t parent = getpid();
  int ends_of_errors[2];
  ASSERT_EQ(pipe(ends_of_errors), 0);
  const private_pool one(1);
  tidepool::work returns(
      [&] {
        if (child == -1) {
          const pid_t now = fork();
          if (now == 0) {
            alarm(static_cast<unsigned>(patience.count()));
            dup2(ends_of_errors[1], STDERR_FILENO);
          }
          child = now;
        } else {
          ++ran;
          if (getpid() != parent) {
            _exit(1);
          }
        }
      },
      one.environment);
  for (int i = 0; i != 5; ++i) {
    returns.submit();
  }
  returns.stop_and_drain();
  EXPECT_EQ(ran, 4);
  ending how;
  EXPECT_EQ(waitpid(child, &how.status, 0), child.load());
  close(ends_of_errors[1]);
  char part[512] = {};
  EXPECT_GT(read(ends_of_errors[0], part, sizeof part - 1), 0);
  close(ends_of_errors[0]);
  how.text = part;
  EXPECT_TRUE(how.was_refused()) << how;
}

// ---- when it has not -----------------------------------------------------------------------------------

/// In a child of its own, for as far as this test's program may have used the pool: see tests/main.cpp.
TEST(forks_before_the_first_use, leave_a_pool_that_works) {
  EXPECT_EXIT(
      {
        tidepool::timer before([] {});  // opens what the timers of the child must not share
        const ending how = in_a_child([&] {
          tally calls;
          const ending_callback note = [&](const again&) { calls.add(); };
          tidepool::timer here([&] { calls.add(); });
          here.set_after(1ms);
          before.set_after(1h);
          ending_work::object work(note);
          ending_timer::object timer(note);
          ending_wait::object wait(note);
          ending_io::object reads(note);
          work.start();
          timer.start();
          wait.start();
          reads.start();
          if (!calls.reaches(5)) {
            _exit(1);
          }
          here.stop_and_drain();
          before.stop_and_drain();
          work.drain();
          timer.drain();
          wait.drain();
          reads.drain();
        });
        if (!how.exited_with(0)) {
          std::fprintf(stderr, "the child: %d, %s\n", how.status, how.text.c_str());
          std::_Exit(1);
        }
        // And the parent's, whose clocks the child has not touched.
        tally calls;
        tidepool::timer here([&] { calls.add(); });
        here.set_after(1ms);
        const bool fired = calls.reaches(1);
        here.stop_and_drain();
        std::_Exit(fired ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(forks_before_the_first_use, leave_a_pool_the_fault_it_was_given) {
  EXPECT_EXIT(
      {
        const private_pool slow(1);
        tidepool::engine::inject_stall_fault(tidepool::unsafe::native_handle(slow.pool), {1ms, 1, 1});
        const ending how = in_a_child([&] {
          tally calls;
          const tidepool::event set(tidepool::reset_mode::manual, true);
          tidepool::wait here(set, [&] { calls.add(); }, slow.environment);
          here.arm();
          here.stop_and_drain();
          _exit(calls.count() == 1 ? 7 : 1);
        });
        std::_Exit(how.exited_with(7) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(forks_before_the_first_use, share_no_clock_with_their_parent) {
  EXPECT_EXIT(
      {
        tidepool::timer before([] {});
        int to_child[2];
        int to_parent[2];
        if (pipe(to_child) != 0 || pipe(to_parent) != 0) {
          std::_Exit(3);
        }
        const pid_t child = fork();
        char byte = 'x';
        if (child == 0) {
          alarm(static_cast<unsigned>(patience.count()));
          static_cast<void>(!read(to_child[0], &byte, 1));
          before.set_after(1h);  // would put off the parent's alarm
          static_cast<void>(!write(to_parent[1], &byte, 1));
          static_cast<void>(!read(to_child[0], &byte, 1));
          _exit(0);
        }
        tally fired;
        tidepool::timer soon([&] { fired.add(); });
        soon.set_after(200ms);
        static_cast<void>(!write(to_child[1], &byte, 1));
        static_cast<void>(!read(to_parent[0], &byte, 1));
        const bool has_fired = fired.reaches(1);
        static_cast<void>(!write(to_child[1], &byte, 1));
        int status = 0;
        waitpid(child, &status, 0);
        std::_Exit(has_fired && status == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace safe
#endif
