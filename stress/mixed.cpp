// Everything at once, and cleanup groups under load.
#include "contract/group_fixtures.hpp"
#include "contract/sources.hpp"
#include "stress.hpp"

namespace stress {
namespace {

class groups : public scenario {};

/// Fills a group with work, timers and waits that are queued, running, armed and idle.
class crowded_group {
 public:
  crowded_group(const contract::pool& where, int members) : in_(where) {
    in_.group(group_);
    for (int i = 0; i != members; ++i) {
      switch (i % 4) {
        case 0: {
          const PTP_WORK work = CreateThreadpoolWork(
              [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) { static_cast<crowded_group*>(context)->ran_ += 1; },
              this, in_);
          SubmitThreadpoolWork(work);
          break;
        }
        case 1:
        case 2: {
          const PTP_TIMER timer = CreateThreadpoolTimer(
              [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_TIMER) { static_cast<crowded_group*>(context)->ran_ += 1; },
              this, in_);
          FILETIME due = contract::relative(std::chrono::microseconds{i});
          SetThreadpoolTimer(timer, &due, i % 4 == 2 ? 1 : 0, 0);
          break;
        }
        default: {
          const PTP_WAIT wait =
              CreateThreadpoolWait([](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WAIT,
                                      TP_WAIT_RESULT) { static_cast<crowded_group*>(context)->ran_ += 1; },
                                   this, in_);
          FILETIME end = contract::relative(std::chrono::microseconds{i});
          SetThreadpoolWait(wait, event_, &end);
        }
      }
    }
  }

  ~crowded_group() {
    CloseThreadpoolCleanupGroup(group_);
    CloseHandle(event_);
  }
  crowded_group(const crowded_group&) = delete;
  crowded_group& operator=(const crowded_group&) = delete;

  void release(bool cancel_pending) {
    SetEvent(event_);
    CloseThreadpoolCleanupGroupMembers(group_, cancel_pending ? TRUE : FALSE, nullptr);
    const int quiet = ran_;
    spin_for(20us);
    EXPECT_EQ(ran_, quiet);
  }
  [[nodiscard]] int ran() const { return ran_; }

 private:
  PTP_CLEANUP_GROUP group_ = CreateThreadpoolCleanupGroup();
  HANDLE event_ = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  contract::environment in_;
  std::atomic<int> ran_{0};
};

TEST_F(groups, are_released_as_a_unit_in_both_forms) {
  const contract::pool where;
  int ran = 0;
  int round = 0;
  for (rounds turn(60); turn.go_on([&] { return ran != 0; }); ++round) {
    crowded_group group(where, 400);
    spin_for(std::chrono::microseconds{round % 10 * 50});
    group.release(round % 2 == 0);
    ran += group.ran();
  }
  EXPECT_GT(ran, 0);
}

TEST_F(groups, are_released_by_several_threads_at_once) {
  const int rounds = scaled(60);
  const contract::pool where;
  for (int round = 0; round != rounds; ++round) {
    crowded_group group(where, 200);
    on_threads(4, [&](unsigned index) { group.release(index % 2 == 0); });
  }
}

TEST_F(groups, come_and_go_on_many_threads) {
  const contract::pool where;
  std::atomic<int> ran{0};
  on_threads(4, [&](unsigned) {
    for (rounds turn(40); turn.go_on([&] { return ran != 0; });) {
      crowded_group group(where, 50);
      group.release(false);
      ran += group.ran();
    }
  });
  EXPECT_GT(ran, 0);
}

class mixed_load : public scenario {};

TEST_F(mixed_load, keeps_every_promise) {
  const private_pool pool(4);
  const auto beats = static_cast<unsigned>(scaled(200));
  crowd inside;
  tally chain_fired;
  timer chain(
      [&](tidepool::timer_firing& firing) {
        inside.enter();
        firing.rearm_after(500us);
        inside.leave();
        chain_fired.add();
      },
      pool.environment);
  chain.set_after(0us);

  tally ticked;
  std::vector<std::unique_ptr<periodic_timer>> tickers;
  for (int i = 0; i != 20; ++i) {
    tickers.push_back(std::make_unique<periodic_timer>(
        std::chrono::milliseconds{1 + i % 5}, [&] { ticked.add(); }, pool.environment));
    tickers.back()->start();
  }

  std::atomic<int> worked{0};
  std::atomic<int> signalled{0};
  std::jthread worker([&](const std::stop_token& stop) {
    work work([&] { ++worked; }, pool.environment);
    for (int round = 0; !stop.stop_requested(); ++round) {
      for (int i = 0; i != 100; ++i) {
        work.submit();
      }
      if (round % 3 == 0) {
        work.cancel_pending();
      } else {
        work.wait_for_callbacks();
      }
      std::this_thread::sleep_for(100us);
    }
  });
  std::jthread signaller([&](const std::stop_token& stop) {
    tidepool::event event(tidepool::reset_mode::automatic);
    while (!stop.stop_requested()) {
      wait wait(event, [&](tidepool::wait_activation&) { ++signalled; }, pool.environment);
      wait.arm(1ms);
      event.set();
      wait.stop_and_drain();
    }
  });
  std::jthread churner([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      timer brief([] {}, pool.environment);
      brief.set_after(20us);
      std::this_thread::sleep_for(20us);
    }
  });
  EXPECT_TRUE(chain_fired.reaches(beats));
  EXPECT_TRUE(ticked.reaches(beats));
  EXPECT_TRUE(contract::eventually([&] { return worked > 0 && signalled > 0; }));
  for (std::jthread* const each : {&worker, &signaller, &churner}) {
    each->request_stop();
    each->join();
  }
  chain.stop_and_drain();
  EXPECT_EQ(inside.peak(), 1u);
}

TEST_F(mixed_load, survives_pools_that_come_and_go) {
  const int rounds = scaled(300);
  std::atomic<int> ran{0};
  const auto one_offs = std::make_shared<std::atomic<int>>(0);  // they may run after the end of the test
  on_threads(3, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    for (int round = 0; round != rounds; ++round) {
      const private_pool pool(1 + static_cast<unsigned>(random() % 3));
      timer timer([&] { ++ran; }, pool.environment);
      tidepool::event event(tidepool::reset_mode::automatic);
      wait wait(event, [&] { ++ran; }, pool.environment);
      work work([&] { ++ran; }, pool.environment);
      timer.set_after(random_time(random, 50));
      wait.arm(random_time(random, 50));
      work.submit();
      event.set();
      tidepool::submit([one_offs] { ++*one_offs; }, pool.environment);
    }
  });
  EXPECT_GE(ran, rounds);  // the work, at least
}

TEST_F(mixed_load, work_objects_keep_count_while_they_are_cancelled_and_the_maximum_changes) {
  const int rounds = scaled(300);
  private_pool pool(3);
  const std::jthread changer([&](const std::stop_token& stop) {
    for (unsigned i = 0; !stop.stop_requested(); ++i) {
      pool.pool.set_max_threads(1 + i % 4);
      std::this_thread::sleep_for(50us);
    }
  });
  for (int round = 0; round != rounds; ++round) {
    std::atomic<int> ran{0};
    work first([&] { ++ran; }, pool.environment);
    work second(
        [&] {
          first.submit();
          ++ran;
        },
        pool.environment);
    for (int i = 0; i != 200; ++i) {
      second.submit();
      if (i % 7 == 0) {
        first.submit();
      }
    }
    second.wait_for_callbacks();
    first.wait_for_callbacks();
    ASSERT_EQ(ran, 200 + 200 + 29);
    for (int i = 0; i != 50; ++i) {
      second.submit();
    }
    second.cancel_pending();
    first.cancel_pending();
    ASSERT_LE(ran, 429 + 100);
  }
}

}  // namespace
}  // namespace stress
