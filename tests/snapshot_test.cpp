// Snapshots of pools: what they show, and what they leave as it is.
#include <tidepool/snapshot.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <ostream>
#include <thread>

#include "safe.hpp"
#include "snapshot_control.hpp"

namespace tidepool {

/// For the messages of failures.
template <class T>
void PrintTo(const observation<T>& seen, std::ostream* out) {
  *out << (seen ? testing::PrintToString(*seen) : "unavailable: " + seen.why_not());
}

}  // namespace tidepool

namespace safe {
namespace {

using tidepool::observation;
using tidepool::pool_snapshot;
using tidepool::snapshot;
using tidepool::snapshot_of;
using tidepool::snapshot_of_default_pool;

class snapshots : public safe_test {};

// ---- the sign of a stall -------------------------------------------------------------------------------

pool_snapshot stalled_pool() {
  pool_snapshot pool;
  pool.port_depth = 1u;
  pool.threads = 0u;
  pool.may_create = true;
  pool.create_in_progress = false;
  pool.scheduled = false;
  return pool;
}

TEST_F(snapshots, call_a_pool_stalled_that_has_packets_and_nobody_who_will_ever_look) {
  EXPECT_EQ(stalled_pool().appears_stalled(), true);
}

TEST_F(snapshots, do_not_call_a_pool_stalled_that_lacks_one_of_the_signs) {
  const auto stalled_but_for = [](auto change) {
    pool_snapshot pool = stalled_pool();
    change(pool);
    return pool.appears_stalled();
  };
  EXPECT_EQ(stalled_but_for([](auto& pool) { pool.port_depth = 0u; }), false);
  EXPECT_EQ(stalled_but_for([](auto& pool) { pool.threads = 1u; }), false);
  EXPECT_EQ(stalled_but_for([](auto& pool) { pool.may_create = false; }), false);
  EXPECT_EQ(stalled_but_for([](auto& pool) { pool.create_in_progress = true; }), false);
  EXPECT_EQ(stalled_but_for([](auto& pool) { pool.scheduled = true; }), false);
}

TEST_F(snapshots, do_not_know_whether_a_pool_is_stalled_when_they_lack_a_figure) {
  const auto without = [](auto figure) {
    pool_snapshot pool = stalled_pool();
    using type = std::remove_reference_t<decltype(pool.*figure)>;
    pool.*figure = type::unavailable("refused");
    return pool.appears_stalled();
  };
  const auto refused = observation<bool>::unavailable("refused");
  EXPECT_EQ(without(&pool_snapshot::port_depth), refused);
  EXPECT_EQ(without(&pool_snapshot::threads), refused);
  EXPECT_EQ(without(&pool_snapshot::may_create), refused);
  EXPECT_EQ(without(&pool_snapshot::create_in_progress), refused);
  EXPECT_EQ(without(&pool_snapshot::scheduled), refused);
}

// ---- the positive control of depths --------------------------------------------------------------------

TEST_F(snapshots, trust_depths_only_when_the_known_port_is_found_with_its_packets) {
  using depth = observation<std::uint64_t>;
  const auto objection = tidepool::system::objection_to_depths;
  EXPECT_EQ(objection(3, true, depth(3u)), "");
  EXPECT_EQ(objection(3, true, depth(0u)), "a port with 3 packets is seen with 0");
  EXPECT_EQ(objection(3, true, depth(4u)), "a port with 3 packets is seen with 4");
  EXPECT_EQ(objection(3, true, depth::unavailable("refused")), "refused");
  EXPECT_NE(objection(3, false, depth(3u)), "");
}

// ---- what they leave as it is --------------------------------------------------------------------------

TEST_F(snapshots, make_no_thread) {
  static_cast<void>(snapshot::take());  // whatever the system loads for it
  const auto before = live_threads();
  const private_pool pool(2);
  for (int i = 0; i != 10; ++i) {
    static_cast<void>(snapshot::take());
    static_cast<void>(snapshot_of(pool.pool));
  }
  const auto after = live_threads();
  EXPECT_TRUE(std::all_of(after.begin(), after.end(), [&](auto each) { return before.contains(each); }));
}

TEST_F(snapshots, can_be_taken_in_callbacks_and_everywhere_at_once_while_pools_come_and_go) {
  const private_pool pool(4);
  std::atomic<bool> done = false;
  std::thread maker([&] {
    while (!done) {
      const private_pool passing(2);
      tidepool::submit([] {}, passing.environment);
    }
  });
  tally taken;
  work work(
      [&] {
        const snapshot all = snapshot::take();
        const pool_snapshot mine = snapshot_of(pool.pool);
        if (all.pools.has_value() == mine.threads.has_value()) {
          taken.add();
        }
      },
      pool.environment);
  for (int i = 0; i != 100; ++i) {
    work.submit();
  }
  for (int i = 0; i != 20; ++i) {
    static_cast<void>(snapshot::take());
  }
  work.stop_and_drain();
  done = true;
  maker.join();
  EXPECT_EQ(taken.count(), 100u);
}

#ifdef _WIN32

// ---- Windows -------------------------------------------------------------------------------------------

TEST_F(snapshots, show_a_port_with_the_packets_that_are_on_it) {
  struct closer {
    void operator()(HANDLE port) const { CloseHandle(port); }
  };
  const std::unique_ptr<void, closer> port(CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1));
  ASSERT_NE(port, nullptr);
  const auto depth = [&port]() -> observation<std::uint64_t> {
    const snapshot all = snapshot::take();
    EXPECT_TRUE(all.ports.has_value()) << all.ports.why_not();
    if (all.ports) {
      for (const tidepool::port_snapshot& each : *all.ports) {
        if (each.id == reinterpret_cast<std::uintptr_t>(port.get())) {
          return each.depth;
        }
      }
    }
    return {};
  };
  EXPECT_EQ(depth(), 0u);
  for (std::uint64_t packets = 1; packets != 6; ++packets) {
    ASSERT_TRUE(PostQueuedCompletionStatus(port.get(), 0, 0, nullptr));
    EXPECT_EQ(depth(), packets);
  }
  EXPECT_EQ(depth(), 5u) << "looking takes nothing away";
}

TEST_F(snapshots, leave_no_port_of_their_own_behind) {
  const auto ports = [] {
    const snapshot all = snapshot::take();
    return all.ports ? all.ports->size() : 0;
  };
  const auto before = ports();
  EXPECT_EQ(ports(), before);
}

TEST_F(snapshots, say_why_when_the_system_tells_nothing_of_pools) {
  const private_pool pool(2);
  occupier one(pool.environment);
  ASSERT_TRUE(one.held());
  const snapshot all = snapshot::take();
  const pool_snapshot its = snapshot_of(pool.pool);
  EXPECT_EQ(all.pools.has_value(), its.threads.has_value());
  if (all.pools) {
    EXPECT_GE(its.threads.value(), 1u);
    EXPECT_EQ(its.maximum, 2u);
    return;
  }
  EXPECT_NE(all.pools.why_not(), "");
  EXPECT_EQ(its.threads.why_not(), all.pools.why_not());
  EXPECT_EQ(its.may_create.why_not(), all.pools.why_not());
  EXPECT_EQ(its.create_in_progress.why_not(), all.pools.why_not());
  EXPECT_EQ(its.port_depth.why_not(), all.pools.why_not());
  EXPECT_EQ(its.appears_stalled().why_not(), all.pools.why_not());
}

TEST_F(snapshots, know_nothing_of_the_default_pool_by_itself) {
  EXPECT_FALSE(snapshot_of_default_pool().threads.has_value());
  EXPECT_EQ(snapshot_of(tidepool::callback_environment()), snapshot_of_default_pool());
  EXPECT_EQ(snapshot_of_default_pool().threads.why_not(), "Windows does not tell which pool is the default one");
}

#else

// ---- Linux ---------------------------------------------------------------------------------------------

TEST_F(snapshots, show_a_pool_that_was_never_used) {
  const tidepool::pool pool;
  const pool_snapshot its = snapshot_of(pool);
  EXPECT_EQ(its.id, reinterpret_cast<std::uintptr_t>(tidepool::unsafe::native_handle(pool)));
  EXPECT_EQ(its.kind, tidepool::pool_kind::own);
  EXPECT_EQ(its.threads, 0u);
  EXPECT_EQ(its.idle_threads, 0u);
  EXPECT_EQ(its.blocked_threads, 0u);
  EXPECT_EQ(its.may_create, true);
  EXPECT_EQ(its.create_in_progress, false);
  EXPECT_EQ(its.scheduled, false);
  EXPECT_EQ(its.minimum, 0u);
  EXPECT_EQ(its.maximum, 500u);
  EXPECT_GE(its.concurrency.value(), 1u);
  EXPECT_EQ(its.idle_timeout, std::chrono::milliseconds(5000));
  EXPECT_EQ(its.port_depth, 0u);
  EXPECT_EQ(its.queued_callbacks, 0u);
  EXPECT_EQ(its.callbacks_run, 0u);
  EXPECT_FALSE(its.nt.has_value());
  EXPECT_EQ(its.appears_stalled(), false);
  EXPECT_EQ(snapshot_of(pool), its) << "looking changes nothing";
}

TEST_F(snapshots, show_the_limits_that_were_set) {
  private_pool pool(7, 2);
  contract::hasten_retirement(tidepool::unsafe::native_handle(pool.pool));
  const pool_snapshot its = snapshot_of(pool.pool);
  EXPECT_EQ(its.minimum, 2u);
  EXPECT_EQ(its.maximum, 7u);
  EXPECT_EQ(its.idle_timeout, std::chrono::milliseconds(10));
}

TEST_F(snapshots, show_what_waits_behind_held_threads) {
  private_pool pool(2);
  std::vector<work> waiting;
  for (int i = 0; i != 3; ++i) {
    waiting.emplace_back([] {}, pool.environment);
  }
  {
    occupier both(pool.environment, 2);
    ASSERT_TRUE(both.held());
    for (work& each : waiting) {
      each.submit();
      each.submit();
    }
    const pool_snapshot held = snapshot_of(pool.pool);
    EXPECT_EQ(held.threads, 2u);
    EXPECT_EQ(held.idle_threads, 0u);
    EXPECT_EQ(held.may_create, false);
    EXPECT_EQ(held.create_in_progress, false);
    EXPECT_EQ(held.port_depth, 3u) << "one packet for each work";
    EXPECT_EQ(held.queued_callbacks, 6u);
    EXPECT_EQ(held.callbacks_run, 0u);
    EXPECT_EQ(held.appears_stalled(), false);
    EXPECT_EQ(snapshot_of(pool.environment).id, held.id);
  }
  for (work& each : waiting) {
    each.stop_and_drain();
  }
  EXPECT_TRUE(eventually([&] { return snapshot_of(pool.pool).idle_threads == 2u; }));
  const pool_snapshot after = snapshot_of(pool.pool);
  EXPECT_EQ(after.port_depth, 0u);
  EXPECT_EQ(after.queued_callbacks, 0u);
  EXPECT_EQ(after.callbacks_run, 8u);
}

TEST_F(snapshots, show_threads_whose_callbacks_wait) {
  private_pool pool(2);
  tidepool::event go(tidepool::reset_mode::manual);
  tally inside;
  work waiter(
      [&] {
        inside.add();
        go.wait();
      },
      pool.environment);
  waiter.submit();
  ASSERT_TRUE(inside.reaches(1));
  EXPECT_TRUE(eventually([&] {
    const pool_snapshot its = snapshot_of(pool.pool);
    return its.blocked_threads == 1u && its.idle_threads == 0u;
  }));
  go.set();
  waiter.stop_and_drain();
  EXPECT_TRUE(eventually([&] { return snapshot_of(pool.pool).idle_threads == 1u; }));
  EXPECT_EQ(snapshot_of(pool.pool).blocked_threads, 0u);
}

TEST_F(snapshots, show_that_another_thread_may_come_until_the_maximum_is_reached) {
  private_pool pool(1);
  occupier only(pool.environment);
  ASSERT_TRUE(only.held());
  EXPECT_EQ(snapshot_of(pool.pool).may_create, false);
  pool.pool.set_max_threads(2);
  EXPECT_EQ(snapshot_of(pool.pool).may_create, true);
}

TEST_F(snapshots, show_a_thread_that_is_being_made) {
  // That takes some ten microseconds, so many are made and somebody looks all the time.
  std::optional<tidepool::pool> pool(std::in_place);
  std::mutex mutex;
  std::atomic<bool> seen = false;
  std::atomic<bool> patient = true;
  std::thread maker([&] {
    for (std::uint32_t threads = 1; patient && !seen; threads = threads % 8 + 1) {
      if (threads == 1) {
        const std::lock_guard lock(mutex);
        pool.emplace();
      }
      pool->set_min_threads(threads);
    }
  });
  EXPECT_TRUE(contract::eventually_without_sleep([&] {
    const std::lock_guard lock(mutex);
    const pool_snapshot its = snapshot_of(*pool);
    if (its.create_in_progress == true) {
      EXPECT_GE(its.threads.value(), 1u);
      seen = true;
    }
    return seen.load();
  }));
  patient = false;
  maker.join();
  EXPECT_TRUE(eventually([&] { return snapshot_of(*pool).create_in_progress == false; }));
}

TEST_F(snapshots, show_that_somebody_will_look_until_nobody_has_to) {
  private_pool pool(2);
  occupier one(pool.environment);
  ASSERT_TRUE(one.held());
  // Whoever has run a callback beside the one that is held keeps an eye on that for a while.
  work other([] {}, pool.environment);
  EXPECT_TRUE(contract::eventually_without_sleep([&] {
    other.submit();
    other.stop_and_drain();
    return snapshot_of(pool.pool).scheduled == true;
  }));
  EXPECT_TRUE(eventually([&] { return snapshot_of(pool.pool).scheduled == false; }));
  EXPECT_EQ(snapshot_of(pool.pool).appears_stalled(), false);
}

TEST_F(snapshots, have_all_pools_of_the_process_the_default_one_first) {
  const auto seen = [](const snapshot& all, const tidepool::pool& pool) {
    const auto id = snapshot_of(pool).id;
    return std::count_if(all.pools->begin(), all.pools->end(), [id](const auto& each) { return each.id == id; });
  };
  std::vector<std::uintptr_t> gone;
  {
    std::vector<tidepool::pool> pools(20);
    pools[3].set_max_threads(33);
    const snapshot all = snapshot::take();
    ASSERT_TRUE(all.pools.has_value());
    EXPECT_EQ(all.pools->front().kind, tidepool::pool_kind::process_default);
    EXPECT_EQ(all.pools->front().id, snapshot_of_default_pool().id);
    EXPECT_EQ(std::count_if(all.pools->begin(), all.pools->end(),
                            [](const auto& each) { return each.kind == tidepool::pool_kind::process_default; }),
              1);
    for (const tidepool::pool& each : pools) {
      EXPECT_EQ(seen(all, each), 1);
      gone.push_back(snapshot_of(each).id);
    }
    EXPECT_EQ(std::count_if(all.pools->begin(), all.pools->end(), [](const auto& each) { return each.maximum == 33u; }),
              1);
    EXPECT_EQ(all.ports, std::vector<tidepool::port_snapshot>());
    pools.erase(pools.begin() + 5, pools.begin() + 15);  // in the middle: the first and the last stay
    const snapshot fewer = snapshot::take();
    for (const tidepool::pool& each : pools) {
      EXPECT_EQ(seen(fewer, each), 1);
    }
    for (std::size_t i = 5; i != 15; ++i) {
      EXPECT_TRUE(
          std::none_of(fewer.pools->begin(), fewer.pools->end(), [&](const auto& each) { return each.id == gone[i]; }));
    }
  }
  const snapshot after = snapshot::take();
  EXPECT_TRUE(std::none_of(after.pools->begin(), after.pools->end(),
                           [&](const auto& each) { return std::count(gone.begin(), gone.end(), each.id) != 0; }));
}

TEST_F(snapshots, of_an_environment_without_a_pool_are_of_the_default_pool) {
  EXPECT_EQ(snapshot_of(tidepool::callback_environment()).id, snapshot_of_default_pool().id);
  EXPECT_EQ(snapshot_of_default_pool().kind, tidepool::pool_kind::process_default);
  occupier one({});
  ASSERT_TRUE(one.held());
  EXPECT_GE(snapshot_of_default_pool().threads.value(), 1u);
}

#endif

}  // namespace
}  // namespace safe
