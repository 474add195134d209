// What becomes of a process whose pool does not begin its repair: nothing, unless it fails fast.
#include "heal/pool_repair.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <tidepool/snapshot.hpp>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "heal/owing_pools.hpp"
#include "safe.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

namespace safe {
namespace {

using tidepool::event;
using tidepool::reset_mode;
using tidepool::wait;
using tidepool::heal::moment;
using tidepool::heal::repair_state;

/// Lets so many ticks find the repair stuck.
void be_stuck(int ticks) {
  const private_pool where(1);
  occupier busy(where.environment);
  if (!busy.held()) {
    std::_Exit(1);
  }
  wait object(event(reset_mode::manual), [] {}, where.environment);
  object.try_cancel_pending();
  // An hour ahead of the healer, which therefore finds the repair in flight and waits.
  moment at = tidepool::heal::now() + 3'600'000'000'000;
  tidepool::heal::tick_all(at);
  for (int i = 0; i != ticks; ++i) {
    at += repair_state::patience + 1;
    tidepool::heal::tick_all(at);
  }
}

#ifndef _WIN32  // which does not list its pools
// In a process of its own, in which nobody has cancelled anything.
TEST(healer, is_not_there_before_something_is_cancelled) {
  EXPECT_EXIT(
      {
        const private_pool where(1);
        wait object(event(reset_mode::manual), [] {}, where.environment);
        object.arm();
        object.stop_and_drain();
        const std::size_t before = tidepool::snapshot::take().pools->size();
        object.try_cancel_pending();
        object.try_cancel_pending();
        const std::size_t after = tidepool::snapshot::take().pools->size();
        std::fprintf(stderr, "%zu and %zu pools\n", before, after);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^2 and 3 pools\n$");
}
#endif

TEST(repairs_that_are_stuck, are_submitted_again) {
  EXPECT_EXIT(
      {
        be_stuck(1);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(repairs_that_are_stuck, end_the_process_at_the_second_time_if_it_fails_fast) {
#ifdef TIDEPOOL_FAIL_FAST
  EXPECT_DEATH(be_stuck(2),
               "tidepool: a thread pool from which a queued wait was cancelled has not begun two pieces of work");
#else
  EXPECT_EXIT(
      {
        be_stuck(5);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^$");
#endif
}

#if defined(TIDEPOOL_FAIL_FAST) && !defined(_WIN32)
// What reports crashes often forks, and a fork takes the lock of the list.
TEST(repairs_that_are_stuck, end_the_process_with_no_lock_held) {
  EXPECT_EXIT(
      {
        std::signal(SIGABRT, [](int) {
          alarm(static_cast<unsigned>(patience.count()));
          const pid_t child = fork();
          if (child == 0) {
            _exit(0);
          }
          int status = 0;
          waitpid(child, &status, 0);
          _exit(7);
        });
        be_stuck(2);
      },
      testing::ExitedWithCode(7), "has not begun two pieces of work");
}
#endif

}  // namespace
}  // namespace safe

#endif
