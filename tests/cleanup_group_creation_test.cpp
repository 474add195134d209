// The creation of members: while their group is being closed, by whomever, and when it fails.
#include <array>

#include "groups.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::reset_mode;

class groups_that_close : public safe_test {};
class creation : public safe_test {};

template <class Kind>
class creation_of : public safe_test {};

TYPED_TEST_SUITE(creation_of, member_kinds, kind_names);

// ---- during a closing ----------------------------------------------------------------------------------

TYPED_TEST(creation_of, a_member_works_while_the_group_is_being_closed_and_outlives_that) {
  for (const bool cancel_pending : {false, true}) {
    tally inside;
    gate go_on;
    tally ran;
    std::atomic<int> alive = 0;
    cleanup_group group;
    const tidepool::work_member holder = group.create_work([&, state = counted(alive)] {
      inside.add();
      EXPECT_TRUE(go_on.pass());
    });
    const tidepool::timer_member probe = group.create_timer([] {});
    holder.submit();
    ASSERT_TRUE(inside.reaches(1));
    tally ended;
    const std::jthread closer = begin([&] {
      group.close_members(cancel_pending);
      ended.add();
    });
    EXPECT_TRUE(eventually([&] { return is_refused([&] { probe.disarm(); }); }));
    auto member = TypeParam::create(group, [&, state = counted(alive)] { ran.add(); });
    TypeParam::start(member);
    EXPECT_TRUE(ran.reaches(1));
    EXPECT_EQ(ended.count(), 0u);
    go_on.open();
    EXPECT_TRUE(ended.reaches(1));
    EXPECT_EQ(alive, 1);
    TypeParam::start(member);
    EXPECT_TRUE(ran.reaches(2));
    group.close_members(false);
    EXPECT_EQ(alive, 0);
  }
}

TYPED_TEST(creation_of, members_by_callbacks_of_the_group_works_while_it_is_being_closed) {
  for (const ending how : all_endings) {
    tally inside;
    gate go_on;
    tally ran;
    std::atomic<int> alive = 0;
    {
      std::optional<cleanup_group> group(std::in_place);
      cleanup_group& same = *group;
      const tidepool::timer_member probe = group->create_timer([] {});
      const tidepool::work_member holder = group->create_work([&] {
        inside.add();
        EXPECT_TRUE(go_on.pass());
        auto member = TypeParam::create(same, [&, state = counted(alive)] { ran.add(); });
        TypeParam::start(member);
        EXPECT_TRUE(ran.reaches(1));
      });
      holder.submit();
      ASSERT_TRUE(inside.reaches(1));
      const std::jthread closer = begin([&] { end(group, how); });
      EXPECT_TRUE(eventually([&] { return is_refused([&] { probe.disarm(); }); }));
      go_on.open();
    }
    EXPECT_EQ(ran.count(), 1u);
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(creation, by_many_threads_meets_closings_by_many_threads) {
  std::atomic<int> alive = 0;
  std::atomic<int> ran = 0;
  std::atomic<int> accepted = 0;
  {
    cleanup_group group;
    std::atomic<bool> stop = false;
    std::vector<std::jthread> threads;
    for (int i = 0; i != 3; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 400; ++n) {
          const tidepool::work_member work = group.create_work([&, state = counted(alive)] { ++ran; });
          switch ((n + i) % 3) {
            case 0: static_cast<void>(group.create_timer([state = counted(alive)] {})); break;
            case 1: static_cast<void>(group.create_periodic_timer(1s, [state = counted(alive)] {})); break;
            default: static_cast<void>(group.create_wait(event(reset_mode::automatic), [state = counted(alive)] {}));
          }
          if (!is_refused([&] { work.submit(); })) {
            ++accepted;
          }
        }
      });
    }
    for (int i = 0; i != 2; ++i) {
      threads.emplace_back([&] {
        while (!stop) {
          group.close_members(false);
        }
      });
    }
    for (std::size_t i = 0; i != 3; ++i) {
      threads[i].join();
    }
    stop = true;
  }
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(ran, accepted);
  EXPECT_GT(ran, 0);
}

// ---- several closings ----------------------------------------------------------------------------------

TEST_F(groups_that_close, are_not_closed_for_others_before_they_are) {
  for (const bool first_cancels : {false, true}) {
    for (const bool second_cancels : {false, true}) {
      tally inside;
      gate go_on;
      std::atomic<bool> finished = false;
      cleanup_group group;
      const tidepool::timer_member probe = group.create_timer([] {});
      group
          .create_work([&] {
            inside.add();
            EXPECT_TRUE(go_on.pass());
            finished = true;
          })
          .submit();
      ASSERT_TRUE(inside.reaches(1));
      std::vector<std::jthread> closers;
      closers.push_back(begin([&] { group.close_members(first_cancels); }));
      EXPECT_TRUE(eventually([&] { return is_refused([&] { probe.disarm(); }); }));
      tally ended;
      for (int i = 0; i != 3; ++i) {
        closers.push_back(begin([&] {
          group.close_members(second_cancels);
          EXPECT_TRUE(finished);
          ended.add();
        }));
      }
      EXPECT_EQ(ended.count(), 0u);
      go_on.open();
      EXPECT_TRUE(ended.reaches(3));
    }
  }
}

TEST_F(groups_that_close, can_be_closed_by_many_threads_at_once_in_each_form) {
  for (int round = 0; round != 100; ++round) {
    std::atomic<int> alive = 0;
    tally ran;
    {
      cleanup_group group;
      for (int i = 0; i != 8; ++i) {
        const auto callback = [&, state = counted(alive)] { ran.add(); };
        group.create_work(callback).submit();
        group.create_timer(callback).set_after(0s);
      }
      std::vector<std::jthread> threads;
      for (int i = 0; i != 4; ++i) {
        threads.emplace_back([&, i] { group.close_members((round + i) % 2 == 0); });
      }
      threads.clear();
      EXPECT_EQ(alive, 0);
      const unsigned after = ran.count();
      let_another_pool_work(1);
      EXPECT_EQ(ran.count(), after);
    }
  }
}

// ---- environments --------------------------------------------------------------------------------------

void CALLBACK never_cancelled(PVOID, PVOID) { ADD_FAILURE() << "the cleanup group of the environment has the object"; }

TYPED_TEST(creation_of, members_goes_by_an_environment_and_changes_nothing_of_it) {
  const PTP_CLEANUP_GROUP foreign = CreateThreadpoolCleanupGroup();
  {
    const private_pool pool(1);
    tidepool::callback_environment environment = pool.environment;
    tidepool::unsafe::set_cleanup_group(environment, foreign, &never_cancelled);
    tally ran;
    std::atomic<int> alive = 0;
    cleanup_group group;
    auto member = TypeParam::create(group, [&, state = counted(alive)] { ran.add(); }, environment);
    EXPECT_EQ(tidepool::unsafe::native_environment(environment)->CleanupGroup, foreign);
    EXPECT_EQ(tidepool::unsafe::native_environment(environment)->CleanupGroupCancelCallback, &never_cancelled);
    // The foreign group has nothing to release.
    CloseThreadpoolCleanupGroupMembers(foreign, TRUE, nullptr);
    TypeParam::start(member);
    EXPECT_TRUE(ran.reaches(1));
    group.close_members(true);
    EXPECT_EQ(alive, 0);
  }
  CloseThreadpoolCleanupGroup(foreign);
}

TEST_F(creation, of_members_can_share_an_environment_and_need_not) {
  const private_pool pool(1);
  cleanup_group group;
  cleanup_group other;
  journal order;
  const auto low = group.create_work([&] { order.note('l'); }, pool.with(tidepool::priority::low));
  const auto normal = other.create_work([&] { order.note('n'); }, pool.environment);
  const auto high = group.create_work([&] { order.note('h'); }, pool.with(tidepool::priority::high));
  {
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    low.submit();
    normal.submit();
    high.submit();
  }
  group.close_members(false);
  other.close_members(false);
  EXPECT_EQ(order.text(), "hnl");
}

// ---- failure -------------------------------------------------------------------------------------------

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("can not be copied today"); }
  void operator()() const {}
};

std::atomic<int> closed_handles = 0;

BOOL CALLBACK close_and_count(HANDLE handle) {
  ++closed_handles;
  return CloseHandle(handle);
}

/// A group with a member, in which other creations fail.
class failed_creation : public safe_test {
 protected:
  ~failed_creation() override {
    member_.submit();
    group_.create_work([this] { ran_.add(); }).submit();
    group_.close_members(false);
    EXPECT_EQ(ran_.count(), 2u);
    EXPECT_EQ(alive_, 0);
    EXPECT_REFUSED(member_.submit());
  }

  std::atomic<int> alive_ = 0;
  tally ran_;
  cleanup_group group_;
  tidepool::work_member member_ = group_.create_work([this] { ran_.add(); });
};

TEST_F(failed_creation, by_a_callable_that_can_not_be_copied_leaves_the_group_as_it_is) {
  const throws_when_copied callable;
  EXPECT_THROW(static_cast<void>(group_.create_work(callable)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(group_.create_timer(callable)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(group_.create_periodic_timer(1s, callable)), std::runtime_error);
  closed_handles = 0;
  EXPECT_THROW(static_cast<void>(group_.create_wait(
                   tidepool::unsafe::assume_waitable_with(CreateEventW(nullptr, TRUE, TRUE, nullptr), &close_and_count),
                   callable)),
               std::runtime_error);
  EXPECT_EQ(closed_handles, 1);
}

TEST_F(failed_creation, by_a_null_pointer_or_a_bad_period_leaves_the_group_as_it_is) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_work(null)), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_timer(null)), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_periodic_timer(0ms, [state = counted(alive_)] {})),
                      std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_wait(event(reset_mode::manual), null)),
                      std::errc::invalid_argument);
}

TEST_F(failed_creation, by_the_system_leaves_the_group_as_it_is_and_destroys_the_callable) {
  SKIP_UNDER_WINE("accepts environments of any version");
  for (int i = 0; i != 3; ++i) {
    tidepool::callback_environment bad;
    tidepool::unsafe::native_environment(bad)->Version = 99;
    const auto callback = [state = counted(alive_)] {};
    EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_work(callback, bad)), std::errc::invalid_argument);
    EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_timer(callback, bad)), std::errc::invalid_argument);
    EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_periodic_timer(1s, callback, bad)),
                        std::errc::invalid_argument);
    closed_handles = 0;
    EXPECT_SYSTEM_ERROR(
        static_cast<void>(group_.create_wait(
            tidepool::unsafe::assume_waitable_with(CreateEventW(nullptr, TRUE, TRUE, nullptr), &close_and_count),
            callback, bad)),
        std::errc::invalid_argument);
    EXPECT_EQ(closed_handles, 1);
    EXPECT_EQ(alive_, 1);
  }
}

TEST_F(creation, that_fails_in_an_empty_group_leaves_it_usable) {
  SKIP_UNDER_WINE("accepts environments of any version");
  tidepool::callback_environment bad;
  tidepool::unsafe::native_environment(bad)->Version = 99;
  tally ran;
  cleanup_group group;
  EXPECT_SYSTEM_ERROR(static_cast<void>(group.create_work([] {}, bad)), std::errc::invalid_argument);
  group.close_members(false);
  EXPECT_SYSTEM_ERROR(static_cast<void>(group.create_work([] {}, bad)), std::errc::invalid_argument);
  group.create_work([&] { ran.add(); }).submit();
  EXPECT_TRUE(ran.reaches(1));
  group.close_members(false);
}

}  // namespace
}  // namespace safe
