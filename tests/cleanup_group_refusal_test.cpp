// Handles of members whose group is being closed, or has been: who is refused, and what those get who are not.
#include <array>

#include "groups.hpp"
#include "sanitizers.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::reset_mode;

class closed_groups : public safe_test {};
class closings : public safe_test {};

template <class Kind>
class handles_of : public safe_test {};

TYPED_TEST_SUITE(handles_of, member_kinds, kind_names);

// ---- after the release ---------------------------------------------------------------------------------

TYPED_TEST(handles_of, are_refused_when_their_group_has_been_closed) {
  for (const ending how : all_endings) {
    tally ran;
    std::optional<cleanup_group> group(std::in_place);
    auto member = TypeParam::create(*group, [&] { ran.add(); });
    TypeParam::start(member);
    EXPECT_TRUE(ran.reaches(1));
    end(group, how);
    auto copy = member;
    expect_all_refused(member);
    expect_all_refused(copy);
    group.reset();
    expect_all_refused(member);
    EXPECT_EQ(ran.count(), 1u);
  }
}

TYPED_TEST(handles_of, say_where_their_member_was_created_when_they_are_refused) {
  cleanup_group group;
  auto member = TypeParam::create(group, [] {});
  group.close_members(false);
  try {
    TypeParam::start(member);
    ADD_FAILURE() << "is not refused";
  } catch (const std::system_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("groups.hpp"), std::string::npos) << message;
    EXPECT_NE(message.find(TypeParam::name), std::string::npos) << message;
    EXPECT_NE(message.find("_member::"), std::string::npos) << message;
  }
}

TEST_F(closed_groups, name_the_function_that_is_refused) {
  cleanup_group group;
  const tidepool::work_member work = group.create_work([] {});
  const tidepool::timer_member timer = group.create_timer([] {});
  const tidepool::periodic_timer_member periodic = group.create_periodic_timer(1s, [] {});
  const tidepool::wait_member wait = group.create_wait(event(reset_mode::manual), [] {});
  group.close_members(false);
  const auto expect_name = [](const char* name, auto operation) {
    try {
      operation();
      ADD_FAILURE() << name << " is not refused";
    } catch (const std::system_error& error) {
      EXPECT_EQ(std::string(error.what()).find(name), 0u) << error.what();
    }
  };
  expect_name("work_member::submit: ", [&] { work.submit(); });
  expect_name("work_member::cancel_pending: ", [&] { work.cancel_pending(); });
  expect_name("timer_member::set_after: ", [&] { timer.set_after(0s); });
  expect_name("timer_member::set_after_with_window: ", [&] { timer.set_after_with_window(0s, 0s); });
  expect_name("timer_member::set_at: ", [&] { timer.set_at(std::chrono::system_clock::now()); });
  expect_name("timer_member::is_set: ", [&] { static_cast<void>(timer.is_set()); });
  expect_name("periodic_timer_member::start: ", [&] { periodic.start(); });
  expect_name("periodic_timer_member::start_after: ", [&] { periodic.start_after(0s); });
  expect_name("periodic_timer_member::start_at: ", [&] { periodic.start_at(std::chrono::system_clock::now()); });
  expect_name("periodic_timer_member::start_with_window: ", [&] { periodic.start_with_window(0s); });
  expect_name("periodic_timer_member::stop: ", [&] { periodic.stop(); });
  expect_name("wait_member::arm: ", [&] { wait.arm(); });
  expect_name("wait_member::stop_and_drain: ", [&] { wait.stop_and_drain(); });
}

TEST_F(closed_groups, have_handles_that_later_members_of_the_same_group_can_not_use) {
  // The memory of a generation is that of the next one, often: what is freed last is what an allocator gives out first. The
  // spare handle leaves memory for the new member's record.
  for (int round = 0; round != 200; ++round) {
    cleanup_group group;
    const tidepool::periodic_timer_member before = group.create_periodic_timer(1h, [] {});
    std::optional<tidepool::work_member> spare(group.create_work([] {}));
    group.close_members(round % 2 == 0);
    spare.reset();
    tally refused;
    const tidepool::work_member after = group.create_work([&] {
      EXPECT_REFUSED(before.period());
      refused.add();
    });
    after.submit();
    after.stop_and_drain();
    ASSERT_EQ(refused.count(), 1u);
  }
}

TEST_F(closed_groups, have_handles_that_can_be_copied_assigned_and_destroyed) {
  std::vector<tidepool::timer_member> kept;
  {
    cleanup_group group;
    for (int i = 0; i != 10; ++i) {
      kept.push_back(group.create_timer([] {}));
    }
  }
  const std::vector<tidepool::timer_member> copies = kept;
  kept[0] = kept[1];
  kept[1] = std::move(kept[2]);
  kept.clear();
  for (const tidepool::timer_member& each : copies) {
    expect_all_refused(each);
  }
}

TEST_F(closed_groups, leave_nothing_behind_of_members_that_kept_their_own_handle) {
  std::atomic<int> alive = 0;
  for (const ending how : all_endings) {
    std::optional<cleanup_group> group(std::in_place);
    tally ran;
    for (int i = 0; i != 10; ++i) {
      const auto own = std::make_shared<std::optional<tidepool::work_member>>();
      own->emplace(group->create_work([&, own, state = counted(alive)] {
        EXPECT_TRUE(own->has_value());
        ran.add();
      }));
      (*own)->submit();
    }
    EXPECT_TRUE(ran.reaches(10));
    EXPECT_EQ(alive, 10);
    end(group, how);
    EXPECT_EQ(alive, 0);
  }
}

// ---- during the closing, from other threads ------------------------------------------------------------

TYPED_TEST(handles_of, are_refused_to_others_from_the_beginning_of_the_closing) {
  for (const ending how : all_endings) {
    tally inside;
    gate go_on;
    std::optional<cleanup_group> group(std::in_place);
    auto member = TypeParam::create(*group, [] {});
    const tidepool::work_member holder = group->create_work([&] {
      inside.add();
      EXPECT_TRUE(go_on.pass());
    });
    holder.submit();
    ASSERT_TRUE(inside.reaches(1));
    expect_all_work(member);
    const std::jthread closer = begin([&] { end(group, how); });
    EXPECT_TRUE(eventually([&] { return is_refused([&] { TypeParam::start(member); }); }));
    expect_all_refused(member);
    expect_all_refused(holder);
    EXPECT_FALSE(go_on.is_open());
    go_on.open();
  }
}

TEST_F(closings, wait_for_those_who_wait_for_a_callback) {
  for (const ending how : all_endings) {
    tally inside;
    gate go_on;
    std::atomic<bool> finished = false;
    std::optional<cleanup_group> group(std::in_place);
    const tidepool::work_member member = group->create_work([&] {
      inside.add();
      EXPECT_TRUE(go_on.pass());
      finished = true;
    });
    member.submit();
    ASSERT_TRUE(inside.reaches(1));
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.push_back(begin([&, i, member] {
        i % 2 == 0 ? member.wait_for_callbacks() : member.stop_and_drain();
        EXPECT_TRUE(finished);
      }));
    }
    tally ended;
    threads.push_back(begin([&] {
      end(group, how);
      EXPECT_TRUE(finished);
      ended.add();
    }));
    EXPECT_EQ(ended.count(), 0u);
    go_on.open();
    EXPECT_TRUE(ended.reaches(1));
  }
}

/// Does something with a member, again and again, until that is refused. Returns how often it worked.
template <class Operation>
int hammer(Operation operation) {
  int worked = 0;
  while (!is_refused([&] { operation(worked); })) {
    ++worked;
  }
  return worked;
}

TEST_F(closings, run_each_submission_that_was_accepted_exactly_once_when_they_drain) {
  for (int round = 0; round != 25; ++round) {
    std::atomic<int> ran = 0;
    std::atomic<int> accepted = 0;
    tally started;
    std::vector<std::jthread> threads;
    {
      cleanup_group group;
      std::vector<tidepool::work_member> members;
      for (int i = 0; i != 3; ++i) {
        members.push_back(group.create_work([&] { ++ran; }));
      }
      for (std::size_t i = 0; i != 6; ++i) {
        threads.emplace_back([&, member = members[i % 3]] {
          started.add();
          accepted += hammer([&](int) { member.submit(); });
        });
      }
      ASSERT_TRUE(started.reaches(6));
      if (round % 2 == 0) {
        std::this_thread::yield();
      }
      group.close_members(false);
      const int after = ran;
      threads.clear();
      EXPECT_EQ(ran, after);
      EXPECT_EQ(ran, accepted);
    }
  }
}

TEST_F(closings, run_no_submission_twice_and_none_late_when_they_cancel) {
  for (int round = 0; round != 25; ++round) {
    std::atomic<int> ran = 0;
    std::atomic<int> accepted = 0;
    tally started;
    std::vector<std::jthread> threads;
    cleanup_group group;
    const tidepool::work_member member = group.create_work([&] { ++ran; });
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, member] {
        started.add();
        accepted += hammer([&](int) { member.submit(); });
      });
    }
    ASSERT_TRUE(started.reaches(4));
    group.close_members(true);
    const int after = ran;
    threads.clear();
    EXPECT_EQ(ran, after);
    EXPECT_LE(ran, accepted);
  }
}

TEST_F(closings, meet_every_operation_on_every_thread) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal; cancelling hangs beside another drain");
  std::atomic<int> alive = 0;
  std::atomic<int> ran = 0;
  std::atomic<int> worked = 0;
  for (int round = 0; round != 100; ++round) {
    const auto callback = [&, state = counted(alive)] {
      EXPECT_GE(*state.alive, 1);
      ++ran;
    };
    const event ready(reset_mode::automatic);
    std::optional<cleanup_group> group(std::in_place);
    const tidepool::work_member work = group->create_work(callback);
    const tidepool::timer_member timer = group->create_timer(callback);
    const tidepool::periodic_timer_member periodic = group->create_periodic_timer(1ms, callback);
    const tidepool::wait_member wait = group->create_wait(ready, callback);
    tally started;
    std::vector<std::jthread> threads;
    const auto on_thread = [&](auto operation) {
      threads.emplace_back([&, operation] {
        started.add();
        worked += hammer(operation);
      });
    };
    on_thread([work](int i) {
      switch (i % 8) {
        case 0: work.wait_for_callbacks(); break;
        case 1: work.cancel_pending(); break;
        case 2: work.stop_and_drain(); break;
        default: work.submit();
      }
    });
    on_thread([timer](int i) {
      switch (i % 8) {
        case 0: timer.wait_for_callbacks(); break;
        case 1: timer.cancel_pending(); break;
        case 2: timer.stop_and_drain(); break;
        case 3: timer.disarm(); break;
        case 4: static_cast<void>(timer.is_set()); break;
        default: timer.set_after(std::chrono::microseconds(i % 3 * 10));
      }
    });
    on_thread([periodic](int i) {
      switch (i % 8) {
        case 0: periodic.wait_for_callbacks(); break;
        case 1: periodic.cancel_pending(); break;
        case 2: periodic.stop_and_drain(); break;
        case 3: periodic.stop(); break;
        case 4: static_cast<void>(periodic.is_running()); break;
        case 5: EXPECT_EQ(periodic.period(), 1ms); break;
        default: periodic.start_after(std::chrono::microseconds(i % 3 * 10));
      }
    });
    on_thread([wait, ready](int i) {
      switch (i % 8) {
        case 0: wait.wait_for_callbacks(); break;
        case 1: wait.stop_and_drain(); break;
        case 2: wait.disarm(); break;
        case 3: ready.set(); break;
        case 4: wait.arm(std::chrono::microseconds(i % 3 * 10)); break;
        default: wait.arm();
      }
    });
    ASSERT_TRUE(started.reaches(4));
    if (round % 4 != 0) {
      EXPECT_TRUE(eventually([&, before = ran.load()] { return ran > before + 4; }));
    }
    end(group, all_endings[round % 4]);
    EXPECT_EQ(alive, 1);  // the callback here
    const int after = ran;
    threads.clear();
    EXPECT_EQ(ran, after);
  }
  EXPECT_GT(worked, 0);
  EXPECT_GT(ran, 0);
}

// ---- during the closing, from callbacks of the group ---------------------------------------------------

/// Holds a callback of the group while the closing begins. When it goes on, others are refused already.
template <class InCallback>
void in_a_callback_during_the_closing(cleanup_group& group, bool cancel_pending, InCallback then) {
  tally inside;
  gate go_on;
  tally over;
  const tidepool::work_member holder = group.create_work([&] {
    inside.add();
    EXPECT_TRUE(go_on.pass());
    EXPECT_NO_THROW(then());
    over.add();
  });
  const tidepool::timer_member probe = group.create_timer([] {});
  holder.submit();
  ASSERT_TRUE(inside.reaches(1));
  const std::jthread closer = begin([&] {
    group.close_members(cancel_pending);
    EXPECT_EQ(over.count(), 1u);
  });
  EXPECT_TRUE(eventually([&] { return is_refused([&] { probe.disarm(); }); }));
  go_on.open();
  EXPECT_TRUE(over.reaches(1));
}

TEST_F(closings, look_at_nothing_of_a_member_for_those_whom_they_refuse) {
  // All of these are between the beginning of their call and its refusal for most of the time, in each other's way. So some
  // are still there when the member is gone.
  constexpr unsigned others = 8;
  constexpr int rounds = under_sanitizer ? 250 : 25;  // nobody else notices
  for (int round = 0; round != rounds; ++round) {
    tally refused;
    std::atomic<bool> over = false;
    std::vector<std::jthread> threads;
    cleanup_group group;
    const tidepool::timer_member member = group.create_timer([] {});
    in_a_callback_during_the_closing(group, round % 2 == 0, [&] {
      for (unsigned i = 0; i != others; ++i) {
        threads.emplace_back([&] {
          EXPECT_REFUSED(member.disarm());
          refused.add();
          while (!over) {
            EXPECT_REFUSED(member.disarm());
          }
        });
      }
      EXPECT_TRUE(refused.reaches(others));
    });
    over = true;
    threads.clear();
  }
}

TYPED_TEST(handles_of, do_for_callbacks_of_the_group_what_the_closing_allows) {
  for (const bool cancel_pending : {false, true}) {
    tally ran;
    cleanup_group group;
    auto member = TypeParam::create(group, [&] { ran.add(); });
    in_a_callback_during_the_closing(group, cancel_pending, [&] {
      TypeParam::start(member);
      member.wait_for_callbacks();
      const bool runs = std::is_same_v<TypeParam, work_kind> && !cancel_pending;
      EXPECT_EQ(ran.count(), runs ? 1u : 0u);
      expect_all_work(member);
    });
    const unsigned after = ran.count();
    const bool ran_all = std::is_same_v<TypeParam, work_kind> && !cancel_pending;
    EXPECT_EQ(after, ran_all ? 2u : 0u);
    let_everything_be_queued();
    EXPECT_EQ(ran.count(), after);
  }
}

TEST_F(closings, run_a_whole_pipeline_of_work_when_they_drain) {
  // The last stage is created first, and so waited for first; each stage takes its time before it submits to the next.
  constexpr std::size_t stages = 5;
  constexpr unsigned items = 4;
  for (int round = 0; round != 10; ++round) {
    std::array<tally, stages> ran;
    std::array<std::optional<tidepool::work_member>, stages> members;
    cleanup_group group;
    for (std::size_t i = stages; i-- != 0;) {
      members[i].emplace(group.create_work([&, i] {
        let_another_pool_work(1);
        if (i + 1 != stages) {
          EXPECT_NO_THROW(members[i + 1]->submit());
        }
        ran[i].add();
      }));
    }
    in_a_callback_during_the_closing(group, false, [&] {
      for (unsigned i = 0; i != items; ++i) {
        members[0]->submit();
      }
    });
    for (tally& stage : ran) {
      EXPECT_EQ(stage.count(), items);
    }
  }
}

TEST_F(closings, drop_what_their_callbacks_submit_when_they_cancel) {
  tally ran;
  cleanup_group group;
  const tidepool::work_member member = group.create_work([&] { ran.add(); });
  in_a_callback_during_the_closing(group, true, [&] {
    for (int i = 0; i != 100; ++i) {
      member.submit();
    }
  });
  EXPECT_EQ(ran.count(), 0u);
}

TEST_F(closings, let_their_callbacks_wait_for_other_members_that_are_running) {
  for (const bool cancel_pending : {false, true}) {
    tally inside;
    gate go_on;
    std::atomic<bool> finished = false;
    cleanup_group group;
    const tidepool::work_member slow = group.create_work([&] {
      inside.add();
      EXPECT_TRUE(go_on.pass());
      finished = true;
    });
    slow.submit();
    ASSERT_TRUE(inside.reaches(1));
    in_a_callback_during_the_closing(group, cancel_pending, [&] {
      const std::jthread opener([&] { go_on.open(); });
      slow.stop_and_drain();
      EXPECT_TRUE(finished);
    });
  }
}

TEST_F(closings, refuse_callbacks_that_are_disassociated_or_of_others) {
  for (const bool cancel_pending : {false, true}) {
    tally inside;
    gate go_on;
    const event over(reset_mode::manual);
    cleanup_group group;
    cleanup_group other_group;
    const tidepool::work_member member = group.create_work([] {});
    const tidepool::work_member disassociated = group.create_work([&](tidepool::callback_instance& instance) {
      instance.set_event_when_returns(over);
      instance.disassociate();
      inside.add();
      EXPECT_TRUE(go_on.pass());
      expect_all_refused(member);
    });
    disassociated.submit();
    work stranger([&] { expect_all_refused(member); });
    const tidepool::work_member cousin = other_group.create_work([&] { expect_all_refused(member); });
    ASSERT_TRUE(inside.reaches(1));
    in_a_callback_during_the_closing(group, cancel_pending, [&] {
      stranger.submit();
      stranger.stop_and_drain();
      cousin.submit();
      cousin.stop_and_drain();
      std::thread([&] { expect_all_refused(member); }).join();
      go_on.open();
      EXPECT_TRUE(over.wait_for(patience));
    });
  }
}

}  // namespace
}  // namespace safe
