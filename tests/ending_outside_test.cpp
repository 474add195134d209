// Drains end although the world around them goes on: ticks come, events are set, callbacks re-arm at once, others start.
#include "ending_kinds.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

class drains : public safe_test {};

/// Calls something again and again, on a thread of its own, for as long as it lives.
template <class F>
class meanwhile {
 public:
  explicit meanwhile(F call)
      : thread_([this, call = std::move(call)] {
          while (!stop_) {
            call();
            turns_.add();
            std::this_thread::yield();
          }
        }) {
    EXPECT_TRUE(turns_.reaches(1));
  }
  ~meanwhile() {
    // What it is there for has gone on until now.
    EXPECT_TRUE(turns_.reaches(turns_.count() + 1));
    stop_ = true;
  }
  meanwhile(const meanwhile&) = delete;
  meanwhile& operator=(const meanwhile&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  tally turns_;
  std::jthread thread_;
};

TEST_F(drains, of_a_ticking_timer_end_and_it_is_quiet_until_it_is_started) {
  crowd ticks_inside;
  tally ticks;
  periodic_timer object(1ms, [&] {
    ticks_inside.enter();
    ticks.add();
    ticks_inside.leave();
  });
  for (int round = 0; round != 50; ++round) {
    const unsigned before = ticks.count();
    object.start();
    EXPECT_TRUE(ticks.reaches(before + 1));
    spin(round);
    object.stop_and_drain();
    EXPECT_EQ(ticks_inside.inside(), 0u);
    EXPECT_FALSE(object.is_running());
    const unsigned after = ticks.count();
    let_another_pool_work();
    EXPECT_EQ(ticks.count(), after);
  }
}

TEST_F(drains, of_a_timer_whose_ticks_are_longer_than_its_period_end_for_each_of_several) {
  // On one thread, so that the next tick is always queued when one is over.
  const private_pool pool(1);
  tally ticks;
  periodic_timer object(
      1ms,
      [&] {
        const auto until = std::chrono::steady_clock::now() + 3ms;
        while (std::chrono::steady_clock::now() < until) {
        }
        ticks.add();
      },
      pool.environment);
  for (int round = 0; round != 5; ++round) {
    const unsigned before = ticks.count();
    object.start();
    EXPECT_TRUE(ticks.reaches(before + 3));
    tally drained;
    std::vector<std::jthread> drainers;
    for (int i = 0; i != 3; ++i) {
      drainers.emplace_back([&] {
        object.stop_and_drain();
        drained.add();
      });
    }
    EXPECT_TRUE(drained.reaches(3));
    EXPECT_FALSE(object.is_running());
  }
}

TEST_F(drains, of_a_wait_end_while_its_event_is_set_again_and_again) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  for (const auto mode : {tidepool::reset_mode::automatic, tidepool::reset_mode::manual}) {
    const tidepool::event ready(mode);
    tally activations;
    wait object(ready, [&](tidepool::wait_activation& activation) {
      activations.add();
      activation.rearm();
    });
    const meanwhile signals([&] { ready.set(); });
    for (int round = 0; round != 50; ++round) {
      const unsigned before = activations.count();
      object.arm();
      EXPECT_TRUE(activations.reaches(before + 3));
      object.stop_and_drain();
      const unsigned after = activations.count();
      let_another_pool_work(1);
      EXPECT_EQ(activations.count(), after);
    }
  }
}

TEST_F(drains, of_a_work_end_when_others_no_longer_submit) {
  tally calls;
  work object([&] { calls.add(); });
  tally drained;
  {
    const std::jthread drainer = [&] {
      const meanwhile first([&] { object.submit(); });
      const meanwhile second([&] { object.submit(); });
      std::jthread thread = begin([&] {
        object.stop_and_drain();
        drained.add();
      });
      EXPECT_TRUE(calls.reaches(calls.count() + 100));
      return thread;
    }();
    EXPECT_TRUE(drained.reaches(1));
  }
  object.stop_and_drain();
  const unsigned after = calls.count();
  let_another_pool_work();
  EXPECT_EQ(calls.count(), after);
}

TEST_F(drains, of_a_timer_end_while_others_set_it_for_later) {
  tally fired;
  timer object([&](tidepool::timer_firing& firing) {
    fired.add();
    firing.rearm_after(0s);
  });
  for (int round = 0; round != 20; ++round) {
    {
      const unsigned before = fired.count();
      object.set_after(0s);
      EXPECT_TRUE(fired.reaches(before + 3));
      const meanwhile others([&] { object.set_after(1h); });
      object.stop_and_drain();
    }
    object.stop_and_drain();
    EXPECT_FALSE(object.is_set());
  }
}

TEST_F(drains, of_a_timer_end_when_others_no_longer_set_it_to_fire_at_once) {
  tally fired;
  timer object([&] { fired.add(); });
  tally drained;
  {
    const std::jthread drainer = [&] {
      const meanwhile others([&] { object.set_after(0s); });
      std::jthread thread = begin([&] {
        object.stop_and_drain();
        drained.add();
      });
      EXPECT_TRUE(fired.reaches(fired.count() + 20));
      return thread;
    }();
    EXPECT_TRUE(drained.reaches(1));
  }
  object.stop_and_drain();
  EXPECT_FALSE(object.is_set());
  const unsigned after = fired.count();
  let_due_times_come();
  EXPECT_EQ(fired.count(), after);
}

TEST_F(drains, of_timers_that_rearm_at_once_end_on_one_thread_too) {
  const private_pool pool(1);
  std::vector<std::unique_ptr<timer>> timers;
  std::vector<std::unique_ptr<tally>> fired;
  for (int i = 0; i != 4; ++i) {
    fired.push_back(std::make_unique<tally>());
    timers.push_back(std::make_unique<timer>(
        [&mine = *fired.back()](tidepool::timer_firing& firing) {
          mine.add();
          firing.rearm_after(0s);
        },
        pool.environment));
    timers.back()->set_after(0s);
  }
  for (const auto& each : fired) {
    EXPECT_TRUE(each->reaches(3));
  }
  for (std::size_t i = 0; i != timers.size(); ++i) {  // while the others keep the only thread busy
    timers[i]->stop_and_drain();
    EXPECT_FALSE(timers[i]->is_set());
    if (i + 1 != timers.size()) {
      EXPECT_TRUE(fired.back()->reaches(fired.back()->count() + 3));
    }
  }
}

TEST_F(drains, of_an_io_end_while_its_peer_writes_on) {
  auto [first, second] = endpoint::make_pipe();
  io reader(std::move(first));
  io writer(std::move(second));
  std::atomic<bool> stop = false;
  tally written;
  std::function<void()> write = [&] {
    writer.write(std::string("x"), [&] {
      written.add();
      if (!stop) {
        write();
      }
    });
  };
  write();
  for (int round = 0; round != 50; ++round) {
    tally handled;
    for (int i = 0; i != 4; ++i) {
      reader.read(std::string(1, ' '), [&] { handled.add(); });
    }
    reader.run_down();
    EXPECT_EQ(handled.count(), 4u);
    EXPECT_EQ(reader.outstanding(), 0u);
  }
  stop = true;
  writer.cancel_all();  // it may be waiting for a reader
  writer.run_down();
}

}  // namespace
}  // namespace safe
