// What comes after a cancelled wait: a repair of its pool.
#include <memory>
#include <optional>
#include <thread>

#include "contract/sources.hpp"
#include "heal/owing_pools.hpp"
#include "heal/pool_repair.hpp"
#include "safe.hpp"
#include "tidepool/detail/access.hpp"
#include "tidepool/unsafe.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

namespace safe {
namespace {

using tidepool::event;
using tidepool::reset_mode;

/// A wait that says whether the pool is to be repaired on which it was made.
class witness {
 public:
  explicit witness(const tidepool::callback_environment& where) : object_(event(reset_mode::manual), [] {}, where) {}

  [[nodiscard]] bool sees_debt() const { return tidepool::detail::access::owes_repair(object_); }

 private:
  wait object_;
};

bool owes_repair(const wait& of) { return tidepool::detail::access::owes_repair(of); }
bool owes_repair(const witness& of) { return of.sees_debt(); }

/// A pool of one whose only thread is held, so that nothing that is queued there begins.
struct held_pool : private_pool {
  held_pool() : private_pool(1) { EXPECT_TRUE(busy.held()); }

  occupier busy{environment};
};

TEST(healing, follows_the_cancellation_of_a_wait) {
  held_pool pool;
  tally activations;
  wait object(event(reset_mode::manual, true), [&] { activations.add(); }, pool.environment);
  EXPECT_FALSE(owes_repair(object));
  object.arm();
  contract::let_signals_arrive();  // so that there is something to be cancelled
  EXPECT_FALSE(owes_repair(object));
  object.disarm();
  object.try_cancel_pending();
  EXPECT_TRUE(owes_repair(object));
  pool.busy.release();
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
  EXPECT_EQ(activations.count(), 0u);
}

TEST(healing, is_a_matter_of_the_pool_and_of_no_other) {
  held_pool pool;
  const private_pool other(1);
  wait object(event(reset_mode::manual), [] {}, pool.environment);
  const witness neighbour(pool.environment);
  const witness stranger(other.environment);
  const witness on_default_pool{tidepool::callback_environment()};
  object.try_cancel_pending();
  EXPECT_TRUE(owes_repair(neighbour));
  EXPECT_FALSE(owes_repair(stranger));
  EXPECT_FALSE(owes_repair(on_default_pool));
}

TEST(healing, is_not_done_by_other_callbacks_of_the_pool) {
  held_pool pool;
  wait object(event(reset_mode::manual), [] {}, pool.environment);
  tally ran;
  work earlier([&] { ran.add(); }, pool.environment);
  earlier.submit();
  object.try_cancel_pending();
  pool.busy.release();
  EXPECT_TRUE(ran.reaches(1));
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
}

// The cancellation waits for the callback that runs; a repair may begin and end meanwhile, and proves nothing of what is
// removed after it.
TEST(healing, begins_after_the_cancellation_and_not_only_before) {
  const private_pool pool(2);
  gate go_on;
  tally inside;
  wait object(
      event(reset_mode::manual, true),
      [&] {
        inside.add();
        EXPECT_TRUE(go_on.pass());
      },
      pool.environment);
  object.arm();
  ASSERT_TRUE(inside.reaches(1));
  std::thread canceller([&] { object.try_cancel_pending(); });
  EXPECT_TRUE(contract::eventually([&] { return owes_repair(object); }));
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
  occupier rest(pool.environment, 2);  // one thread now, and the other when the callback has returned
  go_on.open();
  canceller.join();
  EXPECT_TRUE(owes_repair(object));
  rest.release();
}

TEST(healing, is_done_again_and_again) {
  const private_pool pool(1);
  wait object(event(reset_mode::manual), [] {}, pool.environment);
  for (int i = 0; i != 3; ++i) {
    object.try_cancel_pending();
    EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
  }
}

#ifndef _WIN32  // which does not tell what its default pool has run
TEST(healing, is_not_done_by_the_default_pool) {
  const private_pool pool(1);
  wait object(event(reset_mode::manual), [] {}, pool.environment);
  const auto run_before = tidepool::pool::default_pool_statistics().callbacks_run;
  object.try_cancel_pending();
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
  EXPECT_EQ(tidepool::pool::default_pool_statistics().callbacks_run, run_before);
}
#endif

TEST(healing, follows_the_cancellation_of_a_member) {
  held_pool pool;
  tidepool::cleanup_group group;
  const witness neighbour(pool.environment);
  const auto member = group.create_wait(event(reset_mode::manual), [] {}, pool.environment);
  member.try_cancel_pending();
  EXPECT_TRUE(owes_repair(neighbour));
}

TEST(healing, follows_the_closing_of_waits_with_cancellation) {
  held_pool pool;
  tidepool::cleanup_group group;
  const witness neighbour(pool.environment);
  auto member = group.create_wait(event(reset_mode::manual), [] {}, pool.environment);
  group.close_members(true, member);
  EXPECT_TRUE(owes_repair(neighbour));
}

// As with a cancellation: the closing waits for callbacks that run.
TEST(healing, begins_before_the_closing_of_waits_with_cancellation_is_over) {
  const private_pool pool(2);
  gate go_on;
  tally inside;
  tidepool::cleanup_group group;
  const witness neighbour(pool.environment);
  auto member = group.create_wait(
      event(reset_mode::manual, true),
      [&] {
        inside.add();
        EXPECT_TRUE(go_on.pass());
      },
      pool.environment);
  member.arm();
  ASSERT_TRUE(inside.reaches(1));
  std::thread closer([&] { group.close_members(true, member); });
  EXPECT_TRUE(contract::eventually([&] { return owes_repair(neighbour); }));
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(neighbour); }));
  go_on.open();
  closer.join();
}

TEST(healing, does_not_follow_what_cancels_no_wait) {
  held_pool pool;
  tidepool::cleanup_group group;
  work object([] {}, pool.environment);
  object.submit();
  object.cancel_pending();
  timer another([] {}, pool.environment);
  another.cancel_pending();
  auto member = group.create_work([] {}, pool.environment);
  group.close_members(true, member);
  wait drained(event(reset_mode::manual), [] {}, pool.environment);
  drained.arm();
  drained.disarm();
  tidepool::unsafe::try_cancel_pending_without_healing(drained);
  EXPECT_FALSE(owes_repair(drained));
}

TEST(healing, keeps_a_pool_that_everybody_else_has_let_go_of) {
  std::weak_ptr<::_TP_POOL> pool;
  gate go_on;
  tally held;
  {
    std::optional<private_pool> where(std::in_place, 1);
    pool = tidepool::detail::access::owner_of(where->pool);
    tidepool::submit(
        [&] {
          held.add();
          EXPECT_TRUE(go_on.pass());
        },
        where->environment);
    EXPECT_TRUE(held.reaches(1));
    wait object(event(reset_mode::manual), [] {}, where->environment);
    object.try_cancel_pending();
  }
  EXPECT_FALSE(pool.expired());
  go_on.open();
  EXPECT_TRUE(contract::eventually([&] { return pool.expired(); }));
}

TEST(healing, lets_a_pool_go_that_owes_nothing) {
  std::weak_ptr<::_TP_POOL> pool;
  {
    const private_pool where(1);
    pool = tidepool::detail::access::owner_of(where.pool);
    wait object(event(reset_mode::manual), [] {}, where.environment);
    const work neighbour([] {}, where.environment);
  }
  EXPECT_TRUE(pool.expired());
}

/// A pool of one that the library does not own.
struct foreign_pool {
  foreign_pool() {
    SetThreadpoolThreadMaximum(native, 1);
    tidepool::unsafe::set_pool(environment, native);
  }
  ~foreign_pool() { CloseThreadpool(native); }
  foreign_pool(const foreign_pool&) = delete;
  foreign_pool& operator=(const foreign_pool&) = delete;

  const PTP_POOL native = CreateThreadpool(nullptr);
  tidepool::callback_environment environment;
};

TEST(healing, is_done_on_a_pool_of_somebody_elses_too) {
  const foreign_pool pool;
  wait object(event(reset_mode::manual), [] {}, pool.environment);
  object.try_cancel_pending();
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
}

// Its owner closes it as soon as nothing is left on it, whatever it is owed.
TEST(healing, leaves_a_pool_of_somebody_elses_with_the_wait) {
  const foreign_pool pool;
  occupier busy(pool.environment);
  ASSERT_TRUE(busy.held());
  {
    wait object(event(reset_mode::manual), [] {}, pool.environment);
    object.try_cancel_pending();
    EXPECT_TRUE(owes_repair(object));
  }
  busy.release();
}

#ifndef _WIN32  // which does not tell what is queued
std::uint64_t queued_on(const foreign_pool& pool) {
  TIDEPOOL_POOL_STATISTICS now{};
  TidepoolQueryPoolStatistics(pool.native, &now);
  return now.QueuedCallbacks;
}

/// What the healer would do some time later.
void tick_later() { tidepool::heal::tick_all(tidepool::heal::now() + 1'000'000'000); }

// A run that has been disassociated keeps the wait's state, and may see the pool closed.
TEST(healing, leaves_a_pool_of_somebody_elses_with_the_wait_and_not_with_its_last_run) {
  gate go_on;
  gate let_go;
  tally inside;
  tally gone;
  {
    const foreign_pool pool;
    std::optional<wait> object(
        std::in_place, event(reset_mode::manual, true),
        [&, end = on_destruction([&] { gone.add(); })](tidepool::wait_activation& activation) {
          activation.instance().disassociate();
          inside.add();
          EXPECT_TRUE(go_on.pass());
        },
        pool.environment);
    object->arm();
    ASSERT_TRUE(inside.reaches(1));
    object->try_cancel_pending();
    object.reset();
    EXPECT_EQ(queued_on(pool), 1u);
    tick_later();
    EXPECT_EQ(queued_on(pool), 1u);
    work held(
        [&] {
          inside.add();
          EXPECT_TRUE(let_go.pass());
        },
        pool.environment);
    held.submit();
    go_on.open();
    EXPECT_TRUE(inside.reaches(2));
    EXPECT_TRUE(gone.reaches(1));
    EXPECT_EQ(queued_on(pool), 0u);
    let_go.open();
    held.stop_and_drain();
  }
}

// Another thread that closes the group returns before the members' callables are destroyed, and may close the pool.
TEST(healing, leaves_a_pool_of_somebody_elses_before_the_callables_of_members_are_destroyed) {
  const foreign_pool pool;
  occupier busy(pool.environment);
  ASSERT_TRUE(busy.held());
  tidepool::cleanup_group group;
  std::uint64_t queued = 0;
  const auto member = group.create_wait(
      event(reset_mode::manual), [end = on_destruction([&] { queued = queued_on(pool); })] {}, pool.environment);
  member.try_cancel_pending();
  group.close_members(false);
  EXPECT_EQ(queued, 1u);
  busy.release();
}
#endif

// An environment may have been given another native pool behind its back.
TEST(healing, goes_by_the_native_pool) {
  const foreign_pool actual;
  held_pool named;
  tidepool::callback_environment environment = named.environment;
  SetThreadpoolCallbackPool(tidepool::unsafe::native_environment(environment), actual.native);
  wait object(event(reset_mode::manual), [] {}, environment);
  const witness neighbour(named.environment);
  object.try_cancel_pending();
  EXPECT_FALSE(owes_repair(neighbour));
  EXPECT_TRUE(contract::eventually([&] { return !owes_repair(object); }));
}

TEST(healing, is_not_begun_by_a_wait_that_its_own_callback_cancels) {
  tally refused;
  wait* its = nullptr;
  wait object(event(reset_mode::manual, true), [&] {
    try {
      its->try_cancel_pending();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
      refused.add();
    }
  });
  its = &object;
  object.arm();
  EXPECT_TRUE(refused.reaches(1));
}

}  // namespace
}  // namespace safe

#endif
