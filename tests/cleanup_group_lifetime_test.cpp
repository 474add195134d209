// How members go, and groups: in which order, on which thread, and what the state of callbacks may do while it is destroyed.
#include <algorithm>

#include "groups.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::reset_mode;

class ended_groups : public safe_test {};

template <class Kind>
class ended_groups_of : public safe_test {};

TYPED_TEST_SUITE(ended_groups_of, member_kinds, kind_names);

// ---- order ---------------------------------------------------------------------------------------------

TEST_F(ended_groups, destroy_the_last_member_first_on_the_thread_that_closes_them) {
  for (const ending how : all_endings) {
    std::string order;
    std::optional<cleanup_group> group(std::in_place);
    const auto state = [&](char name) {
      return on_destruction([&order, name, creator = std::this_thread::get_id()] {
        EXPECT_EQ(std::this_thread::get_id(), creator);
        order += name;
      });
    };
    static_cast<void>(group->create_work([last = state('a')] {}));
    static_cast<void>(group->create_timer([last = state('b')] {}));
    static_cast<void>(group->create_wait(event(reset_mode::manual), [last = state('c')] {}));
    static_cast<void>(group->create_periodic_timer(1s, [last = state('d')] {}));
    static_cast<void>(group->create_work([last = state('e')] {}));
    EXPECT_EQ(order, "");
    end(group, how);
    EXPECT_EQ(order, "edcba");
  }
}

TYPED_TEST(ended_groups_of, destroy_nothing_before_all_members_have_been_released) {
  for (const ending how : all_endings) {
    constexpr int number = 10;
    std::vector<typename TypeParam::handle> members;
    std::atomic<int> running = 0;
    int destroyed = 0;
    tally ran;
    std::optional<cleanup_group> group(std::in_place);
    for (int i = 0; i != number; ++i) {
      members.push_back(TypeParam::create(*group, [&, last = on_destruction([&] {
                                                        EXPECT_EQ(running, 0);
                                                        for (const auto& each : members) {
                                                          expect_all_refused(each);
                                                        }
                                                        ++destroyed;
                                                      })] {
        ++running;
        std::this_thread::yield();
        --running;
        ran.add();
      }));
    }
    for (auto& each : members) {
      TypeParam::start(each);
    }
    EXPECT_TRUE(ran.reaches(1));
    end(group, how);
    EXPECT_EQ(destroyed, number);
  }
}

// ---- handles that waits own ------------------------------------------------------------------------------

std::atomic<int> closed_handles = 0;
std::string* closing_order = nullptr;

BOOL CALLBACK close_and_count(HANDLE handle) {
  ++closed_handles;
  if (closing_order != nullptr) {
    *closing_order += 'h';
  }
  return CloseHandle(handle);
}

TEST_F(ended_groups, close_the_handles_of_waits_once_and_each_after_its_callable) {
  for (const ending how : all_endings) {
    closed_handles = 0;
    std::string order;
    closing_order = &order;
    tally ran;
    std::optional<cleanup_group> group(std::in_place);
    for (int i = 0; i != 4; ++i) {
      const auto wait = group->create_wait(
          tidepool::unsafe::assume_waitable_with(CreateEventW(nullptr, TRUE, TRUE, nullptr), &close_and_count),
          [&, last = on_destruction([&] { order += 's'; })] { ran.add(); });
      if (i % 2 == 0) {
        wait.arm();
      }
    }
    EXPECT_TRUE(ran.reaches(2));
    EXPECT_EQ(closed_handles, 0);
    end(group, how);
    EXPECT_EQ(closed_handles, 4);
    EXPECT_EQ(order, "shshshsh");
    closing_order = nullptr;
  }
}

// ---- what the destructor of captured state may do --------------------------------------------------------

TYPED_TEST(ended_groups_of, may_use_and_end_other_objects_while_their_state_is_destroyed) {
  for (const ending how : all_endings) {
    tally ran;
    auto other = std::make_unique<work>([&] { ran.add(); });
    auto later = std::make_unique<timer>([&] { ran.add(); });
    auto other_group = std::make_unique<cleanup_group>();
    auto member_of_other = other_group->create_work([&] { ran.add(); });
    std::optional<cleanup_group> group(std::in_place);
    auto member = TypeParam::create(*group, [&, last = on_destruction([&] {
                                                  other->submit();
                                                  other.reset();
                                                  later->set_after(0s);
                                                  later->wait_for_callbacks();
                                                  later.reset();
                                                  member_of_other.submit();
                                                  other_group.reset();
                                                  tidepool::submit([&] { ran.add(); });
                                                })] {});
    TypeParam::start(member);
    end(group, how);
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(other_group, nullptr);
    EXPECT_TRUE(ran.reaches(3));  // the timer's tick may have been dropped
    let_due_times_come();
  }
}

TEST_F(ended_groups, may_be_closed_again_while_their_state_is_destroyed) {
  for (const ending how : all_endings) {
    std::atomic<int> alive = 0;
    int closed = 0;
    std::optional<cleanup_group> group(std::in_place);
    cleanup_group& same = *group;
    for (int i = 0; i != 3; ++i) {
      static_cast<void>(group->create_work([&, state = counted(alive), last = on_destruction([&] {
                                                                         same.close_members(false);
                                                                         same.close_members(true);
                                                                         ++closed;
                                                                       })] {}));
    }
    end(group, how);
    EXPECT_EQ(closed, 3);
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(ended_groups, may_get_new_members_while_their_state_is_destroyed) {
  for (const ending how : all_endings) {
    std::atomic<int> alive = 0;
    tally ran;
    {
      std::optional<cleanup_group> group(std::in_place);
      cleanup_group& same = *group;
      static_cast<void>(same.create_work([&, state = counted(alive), last = on_destruction([&] {
                                                                       const auto callback =
                                                                           [&, more = counted(alive)] { ran.add(); };
                                                                       same.create_work(callback).submit();
                                                                       same.create_timer(callback).set_after(1h);
                                                                     })] {}));
      end(group, how);
      const bool closed_once = how == ending::close || how == ending::cancelling_close;
      EXPECT_EQ(alive, closed_once ? 2 : 0);
      if (closed_once) {
        group->create_work([&, state = counted(alive)] { ran.add(); }).submit();
        EXPECT_EQ(alive, 3);
      }
    }
    EXPECT_EQ(alive, 0);
    EXPECT_GE(ran.count(), 1u);
  }
}

TEST_F(ended_groups, may_be_destroyed_by_the_state_of_their_own_member) {
  for (const bool cancel_pending : {false, true}) {
    std::atomic<int> alive = 0;
    auto owner = std::make_shared<cleanup_group>();
    cleanup_group& group = *owner;
    for (int i = 0; i != 3; ++i) {
      group.create_work([owner, state = counted(alive)] {}).submit();
    }
    owner.reset();
    EXPECT_EQ(alive, 3);
    group.close_members(cancel_pending);
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(ended_groups, may_belong_to_members_of_others) {
  for (const ending how : all_endings) {
    std::atomic<int> alive = 0;
    tally ran;
    const auto make_group = [&](auto more) {
      auto made = std::make_unique<cleanup_group>();
      made->create_work([&, state = counted(alive), owned = std::move(more)] { ran.add(); }).submit();
      return made;
    };
    std::optional<cleanup_group> outermost(std::in_place);
    outermost
        ->create_work([&, state = counted(alive), owned = make_group(make_group(make_group(std::make_unique<int>())))] {
          ran.add();
        })
        .submit();
    EXPECT_EQ(alive, 4);
    end(outermost, how);
    EXPECT_EQ(alive, 0);
    EXPECT_GE(ran.count(), 3u);  // cancelling is not passed on
  }
}

// ---- pools -----------------------------------------------------------------------------------------------

TYPED_TEST(ended_groups_of, outlive_the_pool_objects_of_their_members) {
  for (const ending how : all_endings) {
    std::atomic<int> alive = 0;
    tally ran;
    std::optional<cleanup_group> group(std::in_place);
    std::optional<typename TypeParam::handle> member;
    {
      const private_pool pool(1);
      member.emplace(TypeParam::create(*group, [&, state = counted(alive)] { ran.add(); }, pool.environment));
      auto another = TypeParam::create(*group, [] {}, private_pool(2).environment);
      TypeParam::start(another);
    }
    TypeParam::start(*member);
    EXPECT_TRUE(ran.reaches(1));
    TypeParam::start(*member);
    end(group, how);
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(ended_groups, may_drop_the_last_reference_to_their_pool_while_their_state_is_destroyed) {
  for (const ending how : all_endings) {
    tally ran;
    auto pool = std::make_unique<private_pool>(1);
    std::optional<cleanup_group> group(std::in_place);
    for (int i = 0; i != 3; ++i) {
      group
          ->create_work([&, last = on_destruction([&] {
                              if (pool != nullptr) {
                                work another([&] { ran.add(); }, pool->environment);
                                another.submit();
                              }
                              pool.reset();
                            })] { ran.add(); },
                        pool->environment)
          .submit();
    }
    end(group, how);
    EXPECT_EQ(pool, nullptr);
    EXPECT_GE(ran.count(), 1u);
  }
}

// ---- moving ----------------------------------------------------------------------------------------------

TEST_F(ended_groups, are_moved_with_their_members) {
  std::atomic<int> alive = 0;
  tally ran;
  std::optional<cleanup_group> original(std::in_place);
  const tidepool::work_member work = original->create_work([&, state = counted(alive)] { ran.add(); });
  cleanup_group moved(std::move(*original));
  original.reset();
  EXPECT_EQ(alive, 1);
  work.submit();
  EXPECT_TRUE(ran.reaches(1));
  cleanup_group assigned;
  const tidepool::work_member before = assigned.create_work([&, state = counted(alive)] { ran.add(); });
  before.submit();
  assigned = std::move(moved);
  EXPECT_EQ(ran.count(), 2u);  // it has been drained
  EXPECT_REFUSED(before.submit());
  EXPECT_EQ(alive, 1);
  work.submit();
  assigned = std::move(*&assigned);
  EXPECT_EQ(alive, 1);
  EXPECT_TRUE(ran.reaches(3));
  moved = cleanup_group();
  moved.create_work([&] { ran.add(); }).submit();
  moved.close_members(false);
  EXPECT_EQ(ran.count(), 4u);
  assigned.close_members(false);
  EXPECT_EQ(alive, 0);
}

TEST_F(ended_groups, may_be_moved_while_their_callbacks_run) {
  tally inside;
  gate go_on;
  std::atomic<bool> finished = false;
  std::optional<cleanup_group> group(std::in_place);
  const tidepool::work_member work = group->create_work([&] {
    inside.add();
    EXPECT_TRUE(go_on.pass());
    finished = true;
  });
  work.submit();
  ASSERT_TRUE(inside.reaches(1));
  cleanup_group moved(std::move(*group));
  group.reset();
  const std::jthread closer = begin([&] {
    moved.close_members(false);
    EXPECT_TRUE(finished);
  });
  go_on.open();
}

// ---- closing by a callback -------------------------------------------------------------------------------

TYPED_TEST(ended_groups_of, refuse_to_be_closed_by_callbacks_of_their_members_disassociated_or_not) {
  tally refused;
  cleanup_group group;
  const auto expect_refusal = [&](bool cancel_pending) {
    try {
      group.close_members(cancel_pending);
      ADD_FAILURE() << "does not throw";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
      EXPECT_NE(std::string(error.what()).find("cleanup_group::close_members"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("cleanup_group_lifetime_test.cpp"), std::string::npos) << error.what();
    }
    refused.add();
  };
  auto member = TypeParam::create(group, [&](auto& token) {
    expect_refusal(false);
    expect_refusal(true);
    instance_of(token).disassociate();
    expect_refusal(false);
    expect_refusal(true);
  });
  TypeParam::start(member);
  EXPECT_TRUE(refused.reaches(4));
  member.stop_and_drain();
  TypeParam::start(member);  // it is as it was
  EXPECT_TRUE(refused.reaches(8));
}

TEST_F(ended_groups, refuse_to_be_closed_by_callbacks_of_their_members_while_others_close_them) {
  for (const bool disassociated : {false, true}) {
    tally inside;
    gate go_on;
    tally refused;
    cleanup_group group;
    const tidepool::timer_member probe = group.create_timer([] {});
    const tidepool::work_member member = group.create_work([&](tidepool::callback_instance& instance) {
      if (disassociated) {
        instance.disassociate();
      }
      inside.add();
      EXPECT_TRUE(go_on.pass());
      EXPECT_SYSTEM_ERROR(group.close_members(false), std::errc::resource_deadlock_would_occur);
      refused.add();
    });
    member.submit();
    ASSERT_TRUE(inside.reaches(1));
    const std::jthread closer = begin([&] { group.close_members(false); });
    EXPECT_TRUE(eventually([&] { return is_refused([&] { probe.disarm(); }); }));
    go_on.open();
    EXPECT_TRUE(refused.reaches(1));
  }
}

TEST_F(ended_groups, may_be_closed_by_callbacks_of_other_groups) {
  for (const ending how : all_endings) {
    std::atomic<int> alive = 0;
    cleanup_group group;
    std::optional<cleanup_group> other(std::in_place);
    other->create_work([state = counted(alive)] {}).submit();
    group.create_work([&] { end(other, how); }).submit();
    group.close_members(false);
    EXPECT_EQ(alive, 0);
  }
}

}  // namespace
}  // namespace safe
