// The repair of pools under load: waits that many threads cancel on pools that come and go, are stalled, and are healed, while
// groups on them are closed and everybody, the healer too, looks at the list.
#include <mutex>

#include "contract/fixtures.hpp"
#include "heal/owing_pools.hpp"
#include "heal/pool_repair.hpp"
#include "stress.hpp"
#include "tidepool/detail/access.hpp"
#include "tidepool/unsafe.hpp"

#ifndef _WIN32
#include "engine/stall_fault.hpp"
#endif

#ifndef TIDEPOOL_NO_SELF_HEAL

namespace stress {
namespace {

using tidepool::callback_environment;
using tidepool::event;
using tidepool::reset_mode;
using tidepool::wait_activation;

/// Each wait is signalled when it is armed, and soon gone.
class repairs : public scenario {
 protected:
  void SetUp() override {
    scenario::SetUp();
    if (!IsSkipped()) {
      SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
    }
  }
};

/// Half of them have the fault, as far as there is one to be had.
void give_the_fault([[maybe_unused]] PTP_POOL pool, [[maybe_unused]] std::minstd_rand& random) {
#ifndef _WIN32
  if (random() % 2 == 0) {
    tidepool::engine::inject_stall_fault(pool, {random_time(random, 200), 0.5, random()});
  }
#endif
}

/// Ticks as the healer does, and much more often, until the scope ends.
class impatient_healer {
 public:
  impatient_healer()
      : thread_([](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            tidepool::heal::tick_all(tidepool::heal::now());
            std::this_thread::yield();
          }
        }) {}

 private:
  std::jthread thread_;
};

/// Cancels what may be queued, in each of the ways there are, and lets everything go.
void cancel_and_leave(const callback_environment& where, std::minstd_rand& random, std::atomic<int>& ran) {
  const event signalled(reset_mode::manual, true);
  const auto callback = [&ran](wait_activation& activation) {
    if (ran++ % 4 == 0) {
      activation.instance().disassociate();
    }
  };
  wait first(signalled, callback, where);
  wait second(signalled, callback, where);
  first.arm();
  second.arm();
  switch (random() % 3) {
    case 0: spin_for(random_time(random, 100)); break;
    case 1: second.try_cancel_pending(); break;
    default:
      tidepool::cleanup_group group;
      const auto member = group.create_wait(signalled, callback, where);
      member.arm();
      const std::jthread other([&] {
        try {
          member.try_cancel_pending();
        } catch (const std::system_error& error) {
          EXPECT_EQ(error.code(), std::errc::operation_not_permitted) << error.what();
        }
      });
      group.close_members(true);
  }
  first.try_cancel_pending();
  if (random() % 2 == 0) {
    second.arm();
    second.wait_for_callbacks();  // hangs on a stalled pool that nobody heals
  }
}

TEST_F(repairs, meet_cancellations_closings_and_the_ends_of_pools) {
  std::atomic<int> ran{0};
  std::vector<std::weak_ptr<::_TP_POOL>> pools;
  std::mutex lock;
  {
    const impatient_healer healer;
    on_threads(4, [&](unsigned index) {
      std::minstd_rand random(index + 1);
      for (rounds turn(500); turn.go_on([&] { return ran > 100; });) {
        tidepool::pool pool;
        give_the_fault(tidepool::unsafe::native_handle(pool), random);
        pool.set_max_threads(2);
        callback_environment where;
        where.set_pool(pool);
        {
          const std::lock_guard guard(lock);
          pools.push_back(tidepool::detail::access::owner_of(pool));
        }
        cancel_and_leave(where, random, ran);
        if (random() % 4 == 0) {  // the last but the list is a callback of the pool
          tidepool::submit([owner = std::move(pool)] {}, where);
        }
      }
    });
  }
  EXPECT_GT(ran, 100);
  // The healer, at its own pace, lets go of those that are left.
  EXPECT_TRUE(contract::eventually(
      [&] { return std::all_of(pools.begin(), pools.end(), [](const auto& each) { return each.expired(); }); }));
}

TEST_F(repairs, of_one_pool_are_made_and_noted_by_many_threads) {
  std::atomic<int> ran{0};
  const impatient_healer healer;
  for (rounds turn(200); turn.go_on([&] { return ran != 0; });) {
    std::minstd_rand random(7);
    const private_pool pool(2);
    on_threads(4, [&](unsigned index) {
      std::minstd_rand mine(index + 1);
      cancel_and_leave(pool.environment, mine, ran);
    });
  }
  EXPECT_GT(ran, 0);
}

TEST_F(repairs, leave_the_pools_of_others_when_the_waits_do) {
  std::atomic<int> ran{0};
  const impatient_healer healer;
  on_threads(4, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    for (rounds turn(500); turn.go_on([&] { return ran != 0; });) {
      const PTP_POOL pool = CreateThreadpool(nullptr);
      give_the_fault(pool, random);
      SetThreadpoolThreadMaximum(pool, 2);
      callback_environment where;
      tidepool::unsafe::set_pool(where, pool);
      cancel_and_leave(where, random, ran);
      CloseThreadpool(pool);
    }
  });
  EXPECT_GT(ran, 0);
}

#ifndef _WIN32
// As long as nobody submits anything, all that ever runs does so because the pool has been healed.
TEST_F(repairs, set_every_stalled_pool_going) {
  const impatient_healer healer;
  std::atomic<int> stalled{0};
  on_threads(3, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    for (rounds turn(300); turn.go_on([&] { return stalled != 0; });) {
      const private_pool pool(2);
      const PTP_POOL native = tidepool::unsafe::native_handle(pool.pool);
      tidepool::engine::inject_stall_fault(native, {1s, 1, random()});
      const event signalled(reset_mode::manual, true);
      wait victim(signalled, [] {}, pool.environment);
      tally ran;
      wait later(signalled, [&] { ran.add(); }, pool.environment);
      victim.arm();
      tidepool::unsafe::try_cancel_pending_without_healing(victim);
      stalled += tidepool::engine::has_stalled(native) ? 1 : 0;
      victim.try_cancel_pending();
      later.arm();
      ASSERT_TRUE(ran.reaches(1));
      ASSERT_FALSE(tidepool::engine::has_stalled(native));
    }
  });
  EXPECT_GT(stalled, 0);
}
#endif

}  // namespace
}  // namespace stress

#endif
