// The safe layer's cleanup groups under load: members that run, re-arm, submit to each other and are used by many threads
// while their group is closed in each form, filled again, and destroyed.
#include "contract/fixtures.hpp"
#include "stress.hpp"

namespace stress {
namespace {

using tidepool::cleanup_group;
using tidepool::event;
using tidepool::reset_mode;

class cleanup_groups : public scenario {};

/// Whether it worked; false when the member's group has been closed.
template <class Operation>
bool attempt(Operation operation) {
  try {
    operation();
    return true;
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::operation_not_permitted) << error.what();
    return false;
  }
}

/// State of a callback that notices when it is used after its end.
class owned_state {
 public:
  explicit owned_state(std::atomic<int>& alive) : alive_(&alive) { ++*alive_; }
  owned_state(const owned_state& other) : alive_(other.alive_) { ++*alive_; }
  owned_state& operator=(const owned_state&) = delete;
  ~owned_state() {
    check();
    word_ = 0;
    --*alive_;
  }
  void check() const { EXPECT_EQ(word_, intact); }

 private:
  static constexpr unsigned intact = 0x600DF00D;
  std::atomic<int>* alive_;
  volatile unsigned word_ = intact;
};

/// Members of each kind, which keep each other busy. When the group is closed while they are being made they belong to
/// different generations, and their callbacks are refused; `strays` counts that.
struct busy_members {
  busy_members(cleanup_group& group, const tidepool::callback_environment& where, std::atomic<int>& alive,
               std::atomic<int>& ran, std::atomic<int>& strays)
      : work(group.create_work(
            [&ran, state = owned_state(alive)] {
              state.check();
              ++ran;
            },
            where)),
        pipeline(group.create_work(
            [&ran, &strays, next = work, state = owned_state(alive)] {
              state.check();
              strays += attempt([&] { next.submit(); }) ? 0 : 1;
              ++ran;
            },
            where)),
        chain(group.create_timer(
            [&ran, &strays, next = pipeline, state = owned_state(alive)](tidepool::timer_firing& firing) {
              state.check();
              firing.rearm_after(0us);
              strays += attempt([&] { next.submit(); }) ? 0 : 1;
              ++ran;
            },
            where)),
        ticker(group.create_periodic_timer(
            1ms,
            [&ran, &strays, next = chain, state = owned_state(alive)] {
              state.check();
              strays += attempt([&] { next.set_after(10us); }) ? 0 : 1;
              ++ran;
            },
            where)),
        waiter(group.create_wait(
            signal,
            [&ran, &strays, other = ticker, again = signal,
             state = owned_state(alive)](tidepool::wait_activation& activation) {
              state.check();
              activation.rearm(100us);
              strays += attempt([&] { static_cast<void>(other.is_running()); }) ? 0 : 1;
              again.set();
              ++ran;
            },
            where)) {
    attempt([&] { pipeline.submit(); });
    attempt([&] { chain.set_after(0us); });
    attempt([&] { ticker.start_after(0us); });
    attempt([&] { waiter.arm(); });
    signal.set();
  }

  event signal{reset_mode::automatic};
  tidepool::work_member work;
  tidepool::work_member pipeline;
  tidepool::timer_member chain;
  tidepool::periodic_timer_member ticker;
  tidepool::wait_member waiter;
};

TEST_F(cleanup_groups, are_closed_while_their_members_keep_each_other_busy) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  const private_pool pool(4);
  std::atomic<int> alive{0};
  std::atomic<int> ran{0};
  std::atomic<int> strays{0};
  int round = 0;
  for (rounds turn(150); turn.go_on([&] { return ran > 100; }); ++round) {
    std::optional<cleanup_group> group(std::in_place);
    std::vector<std::unique_ptr<busy_members>> members;
    for (int i = 0; i != 20; ++i) {
      members.push_back(std::make_unique<busy_members>(*group, pool.environment, alive, ran, strays));
    }
    spin_for(std::chrono::microseconds{round % 10 * 100});
    switch (round % 3) {
      case 0: group->close_members(false); break;
      case 1: group->close_members(true); break;
      default: group.reset();
    }
    ASSERT_EQ(alive, 0);
    const int quiet = ran;
    spin_for(20us);
    ASSERT_EQ(ran, quiet);
    ASSERT_EQ(strays, 0);  // callbacks of the group are never refused
    ASSERT_FALSE(attempt([&] { members.back()->chain.set_after(0us); }));
  }
  EXPECT_GT(ran, 100);
}

TEST_F(cleanup_groups, are_closed_by_many_threads_while_many_others_use_and_create_members) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  std::atomic<int> alive{0};
  std::atomic<int> ran{0};
  std::atomic<int> strays{0};
  std::atomic<int> accepted{0};
  std::atomic<int> once{0};
  std::atomic<int> refused{0};
  std::atomic<int> users{3};
  {
    const private_pool pool(4);
    cleanup_group group;
    on_threads(5, [&](unsigned index) {
      if (index >= 3) {  // the closers
        while (users != 0) {
          group.close_members(false);
        }
        return;
      }
      std::minstd_rand random(index + 1);
      for (rounds turn(600); turn.go_on([&] { return refused != 0; });) {
        const busy_members mine(group, pool.environment, alive, ran, strays);
        const tidepool::work_member counted =
            group.create_work([&once, state = owned_state(alive)] { ++once; }, pool.environment);
        for (bool open = true; open;) {
          switch (random() % 8) {
            case 0: open = attempt([&] { mine.work.wait_for_callbacks(); }); break;
            case 1: open = attempt([&] { mine.chain.stop_and_drain(); }); break;
            case 2: open = attempt([&] { mine.ticker.stop(); }); break;
            case 3: open = attempt([&] { mine.waiter.arm(random_time(random, 50)); }); break;
            case 4: open = attempt([&] { mine.waiter.stop_and_drain(); }); break;
            case 5: open = attempt([&] { mine.chain.set_after(random_time(random, 50)); }); break;
            default: open = attempt([&] { counted.submit(); }); accepted += open ? 1 : 0;
          }
        }
        ++refused;
      }
      --users;
    });
  }
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(once, accepted);  // the draining form loses none
  EXPECT_GT(ran, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(cleanup_groups, of_a_hundred_thousand_members_come_to_an_end) {
  const int number = scaled(100'000);
  for (const bool cancel_pending : {false, true}) {
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    const event signal(reset_mode::manual);
    cleanup_group group;
    for (int i = 0; i < number; i += 4) {
      const auto callback = [&ran, state = owned_state(alive)] {
        state.check();
        ++ran;
      };
      group.create_work(callback).submit();
      group.create_timer(callback).set_after(std::chrono::microseconds{i});
      group.create_periodic_timer(1s, callback).start();
      group.create_wait(signal, callback).arm();
    }
    signal.set();
    group.close_members(cancel_pending);
    EXPECT_EQ(alive, 0);
    if (!cancel_pending) {
      EXPECT_GE(ran, number / 4);  // the work, at least
    }
  }
}

}  // namespace
}  // namespace stress
