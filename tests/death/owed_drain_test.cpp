// What a destructor does that finds a drain owed: in a build that fails fast it drains, and then ends the process with a
// message; in any other it drains, and that is all.
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "contract/blocked_call.hpp"
#include "safe.hpp"

#ifndef _WIN32
#include <csignal>
#endif

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::io;
using tidepool::periodic_timer;
using tidepool::timer;
using tidepool::wait;
using tidepool::work;

constexpr auto far_away = std::chrono::hours(1);

/// `destroy` destroys objects, and no more comes of that.
template <class F>
void expect_nothing_owed(F destroy) {
  EXPECT_EXIT(
      {
        destroy();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

/// `destroy` destroys an object that owes a drain.
template <class F>
void expect_owed([[maybe_unused]] const char* kind, [[maybe_unused]] const char* call, F destroy) {
#ifdef TIDEPOOL_FAIL_FAST
  const std::string message =
      std::string("tidepool: the ") + kind +
      " created at .*owed_drain_test.cpp:[0-9]+ .* was destroyed while it still owed a drain; call " + call +
      "\\(\\) before";
  EXPECT_DEATH(destroy(), message);
#else
  expect_nothing_owed(destroy);
#endif
}

TEST(owed_drain, of_work_names_stop_and_drain) {
  expect_owed("work", "work::stop_and_drain", [] {
    work object([] {});
    object.submit();
  });
}

TEST(owed_drain, of_a_timer_names_stop_and_drain) {
  expect_owed("timer", "timer::stop_and_drain", [] {
    timer object([] {});
    object.set_after(far_away);
  });
}

TEST(owed_drain, of_a_periodic_timer_names_stop_and_drain) {
  expect_owed("periodic_timer", "periodic_timer::stop_and_drain", [] {
    periodic_timer object(far_away, [] {});
    object.start();
  });
}

TEST(owed_drain, of_a_wait_names_stop_and_drain) {
  expect_owed("wait", "wait::stop_and_drain", [] {
    wait object(tidepool::event(tidepool::reset_mode::manual), [] {});
    object.arm();
  });
}

TEST(owed_drain, of_an_io_names_run_down) {
  expect_owed("io", "io::run_down", [] {
    auto [reader, writer] = tidepool::endpoint::make_pipe();
    io object(std::move(reader));
    object.read(tidepool::buffer(1), [] {});
  });
}

TEST(owed_drain, of_a_wait_whose_callback_is_still_queued_is_found) {
  expect_owed("wait", "wait::stop_and_drain", [] {
    const private_pool pool(1);
    tidepool::event ready(tidepool::reset_mode::automatic, true);
    tally queued;
    wait* its = nullptr;
    wait object(
        ready,
        [&] {
          if (queued.count() == 0) {
            // Queues activations, until one that it asks for is discarded and leaves the signal: the destructor has begun.
            do {
              its->arm();
              ready.set();
              queued.add();
            } while (!ready.wait_for(0ms));
          }
        },
        pool.environment);
    its = &object;
    object.arm();
    EXPECT_TRUE(queued.reaches(1));
  });
}

TEST(owed_drain, is_found_by_an_assignment) {
  expect_owed("work", "work::stop_and_drain", [] {
    work object([] {});
    object.submit();
    object = work([] {});
  });
}

TEST(owed_drain, is_not_there_when_an_object_was_never_live_or_was_drained_by_name) {
  expect_nothing_owed([] {
    const work never([] {});
    work object([] {});
    object.submit();
    object.stop_and_drain();
    timer once([] {});
    once.set_after(far_away);
    once.stop_and_drain();
    periodic_timer often(far_away, [] {});
    often.start();
    often.stop_and_drain();
    wait on_event(tidepool::event(tidepool::reset_mode::manual), [] {});
    on_event.arm();
    on_event.stop_and_drain();
    auto [reader, writer] = tidepool::endpoint::make_pipe();
    io pipe(std::move(reader));
    pipe.read(tidepool::buffer(1), [] {});
    pipe.cancel_all();
    pipe.run_down();
  });
}

TEST(owed_drain, is_not_there_when_a_timer_or_a_wait_has_been_dispatched) {
  expect_nothing_owed([] {
    tally ran;
    timer once([&] { ran.add(); });
    once.set_after(0ms);
    wait on_event(tidepool::event(tidepool::reset_mode::manual, true), [&] { ran.add(); });
    on_event.arm();
    EXPECT_TRUE(ran.reaches(2));
  });
}

TEST(owed_drain, is_no_business_of_a_group) {
  expect_nothing_owed([] {
    tidepool::cleanup_group group;
    const auto object = group.create_work([] {});
    object.submit();
    const auto once = group.create_timer([] {});
    once.set_after(far_away);
  });
}

// The destructor waits for the callback that is held, so what it has to say comes after what is said meanwhile.
TEST(owed_drain, is_reported_after_the_drain) {
  const auto destroy_while_held = [] {
    gate go_on;
    tally begun;
    std::optional<work> object(std::in_place, [&] {
      begun.add();
      EXPECT_TRUE(go_on.pass());
      std::fputs("the callback returns\n", stderr);
    });
    object->submit();
    EXPECT_TRUE(begun.reaches(1));
    contract::blocked_call destroyer([&] { object.reset(); });
    EXPECT_TRUE(destroyer.blocks());
    std::fputs("the callback is let go\n", stderr);
    go_on.open();
    destroyer.join();
  };
#ifdef TIDEPOOL_FAIL_FAST
  EXPECT_DEATH(destroy_while_held(), "^the callback is let go\nthe callback returns\ntidepool: the work created at");
#else
  EXPECT_EXIT(
      {
        destroy_while_held();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^the callback is let go\nthe callback returns\n$");
#endif
}

#if defined(TIDEPOOL_FAIL_FAST) && !defined(_WIN32)
TEST(owed_drain, that_is_found_while_the_process_ends_for_another_ends_it_all_the_same) {
  EXPECT_DEATH(
      {
        std::signal(SIGABRT, [](int) {
          std::optional<timer> second(std::in_place, [] {});
          second->set_after(far_away);
          second.reset();
        });
        work first([] {});
        first.submit();
      },
      "the work created at .*\n.*the timer created at ");
}

TEST(owed_drain, that_several_threads_find_at_the_same_time_ends_the_process) {
  EXPECT_DEATH(
      {
        tally ready;
        gate go;
        std::vector<std::jthread> threads;
        for (int i = 0; i != 8; ++i) {
          threads.emplace_back([&] {
            work object([] {});
            object.submit();
            ready.add();
            static_cast<void>(go.pass());
          });
        }
        static_cast<void>(ready.reaches(8));
        go.open();
      },
      "the work created at .*owed a drain");
}
#endif

}  // namespace
}  // namespace safe
