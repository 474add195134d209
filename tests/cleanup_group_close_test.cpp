// The closing of a cleanup group: what of its members still runs, what is dropped, what is waited for.
#include "groups.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::reset_mode;

class cleanup_groups : public safe_test {};

template <class Kind>
class closing_a_group_of : public safe_test {
 protected:
  /// Nothing of the group runs any more.
  void expect_quiet() {
    const unsigned before = begun.count();
    let_everything_be_queued();
    EXPECT_EQ(begun.count(), before);
    EXPECT_EQ(over.count(), before);
  }

  tally begun;
  gate let_go;
  tally over;
  std::atomic<int> alive = 0;
};

template <class Kind>
class closing_a_group_of_rearming : public closing_a_group_of<Kind> {};
template <class Kind>
class closing_a_group_of_armed : public closing_a_group_of<Kind> {};

TYPED_TEST_SUITE(closing_a_group_of, member_kinds, kind_names);
TYPED_TEST_SUITE(closing_a_group_of_armed, arming_kinds, kind_names);
TYPED_TEST_SUITE(closing_a_group_of_rearming, token_kinds, kind_names);

// ---- what is queued ------------------------------------------------------------------------------------

TYPED_TEST(closing_a_group_of, runs_what_is_queued_when_it_drains) {
  for (const ending how : draining_endings) {
    const private_pool pool(1);
    tally ran;
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    std::optional<cleanup_group> group(std::in_place);
    for (int i = 0; i != 5; ++i) {
      auto member = TypeParam::create(*group, [&, state = counted(this->alive)] { ran.add(); }, pool.environment);
      TypeParam::start(member);
    }
    let_everything_be_queued();
    tally ended;
    const std::jthread closer = begin([&] {
      end(group, how);
      EXPECT_EQ(ran.count(), 5u);
      EXPECT_EQ(this->alive, 0);
      ended.add();
    });
    EXPECT_EQ(ran.count(), 0u);
    EXPECT_EQ(ended.count(), 0u);
    only_thread.release();
    EXPECT_TRUE(ended.reaches(1));
    EXPECT_EQ(ran.count(), 5u);
  }
}

TYPED_TEST(closing_a_group_of, drops_what_is_queued_when_it_cancels) {
  const private_pool pool(1);
  tally ran;
  tally control_ran;
  cleanup_group group;
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  for (int i = 0; i != 5; ++i) {
    auto member = TypeParam::create(group, [&, state = counted(this->alive)] { ran.add(); }, pool.environment);
    TypeParam::start(member);
  }
  auto control = TypeParam::alone([&] { control_ran.add(); }, pool.environment);
  TypeParam::start(control);
  let_everything_be_queued();
  EXPECT_EQ(this->alive, 5);
  group.close_members(true);  // comes to its end although the thread is held
  EXPECT_EQ(this->alive, 0);
  only_thread.release();
  EXPECT_TRUE(control_ran.reaches(1));
  control.stop_and_drain();
  let_pool_of_one_finish(pool);
  EXPECT_EQ(ran.count(), 0u);
}

TYPED_TEST(closing_a_group_of, drops_what_is_queued_behind_a_running_callback_when_it_cancels) {
  const private_pool pool(1);
  tally ran;
  cleanup_group group;
  auto running = group.create_work(
      [&, state = counted(this->alive)] {
        this->begun.add();
        EXPECT_TRUE(this->let_go.pass());
        EXPECT_EQ(this->alive, 2);
        this->over.add();
      },
      pool.environment);
  auto queued = TypeParam::create(group, [&, state = counted(this->alive)] { ran.add(); }, pool.environment);
  running.submit();
  ASSERT_TRUE(this->begun.reaches(1));
  TypeParam::start(queued);
  let_everything_be_queued();
  tally ended;
  const std::jthread closer = begin([&] {
    group.close_members(true);
    EXPECT_EQ(this->over.count(), 1u);
    EXPECT_EQ(this->alive, 0);
    ended.add();
  });
  EXPECT_EQ(ended.count(), 0u);
  this->let_go.open();
  EXPECT_TRUE(ended.reaches(1));
  EXPECT_EQ(ran.count(), 0u);
}

// ---- what is running -----------------------------------------------------------------------------------

TYPED_TEST(closing_a_group_of, waits_for_what_is_running_in_each_form) {
  for (const ending how : all_endings) {
    tally inside;
    gate go_on;
    std::atomic<bool> finished = false;
    std::optional<cleanup_group> group(std::in_place);
    auto member = TypeParam::create(*group, [&, state = counted(this->alive)] {
      inside.add();
      EXPECT_TRUE(go_on.pass());
      EXPECT_EQ(this->alive, 1);
      finished = true;
    });
    TypeParam::start(member);
    ASSERT_TRUE(inside.reaches(1));
    tally ended;
    const std::jthread closer = begin([&] {
      end(group, how);
      EXPECT_TRUE(finished);
      EXPECT_EQ(this->alive, 0);
      ended.add();
    });
    EXPECT_EQ(ended.count(), 0u);
    go_on.open();
    EXPECT_TRUE(ended.reaches(1));
  }
}

TYPED_TEST(closing_a_group_of, waits_for_a_run_that_is_disassociated_too) {
  for (const ending how : all_endings) {
    std::optional<cleanup_group> group(std::in_place);
    tally inside;
    gate go_on;
    std::atomic<bool> finished = false;
    auto member = TypeParam::create(*group, [&, state = counted(this->alive)](auto& token) {
      instance_of(token).disassociate();
      inside.add();
      EXPECT_TRUE(go_on.pass());
      EXPECT_EQ(*state.alive, 1);
      if constexpr (requires { TypeParam::restart(token); }) {
        TypeParam::restart(token);  // leads to nothing
      } else if constexpr (requires { token.stop(); }) {
        token.stop();
      }
      finished = true;
    });
    TypeParam::start(member);
    ASSERT_TRUE(inside.reaches(1));
    member.wait_for_callbacks();  // does not wait for it
    tally ended;
    const std::jthread closer = begin([&] {
      end(group, how);
      EXPECT_TRUE(finished);
      EXPECT_EQ(this->alive, 0);
      ended.add();
    });
    EXPECT_EQ(ended.count(), 0u);
    go_on.open();
    EXPECT_TRUE(ended.reaches(1));
    EXPECT_EQ(inside.count(), 1u);
  }
}

// ---- what is armed -------------------------------------------------------------------------------------

TYPED_TEST(closing_a_group_of_armed, disarms_what_is_armed_for_later) {
  for (const ending how : all_endings) {
    const event ready(reset_mode::manual);
    tally ran;
    std::optional<cleanup_group> group(std::in_place);
    const auto callback = [&, state = counted(this->alive)] { ran.add(); };
    if constexpr (std::is_same_v<TypeParam, wait_kind>) {
      group->create_wait(ready, callback).arm();
      group->create_wait(ready, callback).arm(1h);
    } else {
      auto member = TypeParam::create(*group, callback);
      TypeParam::start_much_later(member);
    }
    EXPECT_GE(this->alive, 2);  // the callback here is one
    end(group, how);
    EXPECT_EQ(this->alive, 1);
    ready.set();
    let_everything_be_queued();
    EXPECT_EQ(ran.count(), 0u);
  }
}

TYPED_TEST(closing_a_group_of_armed, is_quick_with_a_callback_that_is_started_by_others_all_the_time) {
  SKIP_WAITS_UNDER_WINE();
  for (const ending how : {ending::close, ending::cancelling_close}) {
    std::optional<cleanup_group> group(std::in_place);
    auto member = TypeParam::create(*group, [&] {
      this->begun.add();
      this->over.add();
    });
    std::vector<std::jthread> starters;
    std::atomic<int> refusals = 0;
    for (int i = 0; i != 3; ++i) {
      starters.emplace_back([&, member] {
        while (!is_refused([&] { TypeParam::start(member); })) {
        }
        ++refusals;
      });
    }
    EXPECT_TRUE(this->begun.reaches(this->begun.count() + 3));
    end(group, how);
    this->expect_quiet();
    starters.clear();
    EXPECT_EQ(refusals, 3);
  }
}

TYPED_TEST(closing_a_group_of_rearming, discards_what_the_token_of_a_running_callback_asks_for) {
  SKIP_WAITS_UNDER_WINE();
  for (const ending how : all_endings) {
    for (int round = 0; round != 10; ++round) {
      tally inside;
      gate go_on;
      std::optional<cleanup_group> group(std::in_place);
      auto member = TypeParam::create(*group, [&](typename TypeParam::token& token) {
        TypeParam::restart(token);
        inside.add();
        EXPECT_TRUE(go_on.pass());
      });
      TypeParam::start(member);
      ASSERT_TRUE(inside.reaches(1));
      tally ended;
      const std::jthread closer = begin([&] {
        end(group, how);
        ended.add();
      });
      go_on.open();
      EXPECT_TRUE(ended.reaches(1));
      EXPECT_EQ(inside.count(), 1u);
    }
  }
}

TYPED_TEST(closing_a_group_of_rearming, brings_members_to_an_end_that_rearm_without_pause) {
  SKIP_WAITS_UNDER_WINE();
  for (const ending how : all_endings) {
    for (int round = 0; round != 10; ++round) {
      std::optional<cleanup_group> group(std::in_place);
      for (int i = 0; i != 20; ++i) {
        auto member = TypeParam::create(*group, [&](typename TypeParam::token& token) {
          TypeParam::restart(token);
          this->begun.add();
          this->over.add();
        });
        TypeParam::start(member);
      }
      EXPECT_TRUE(this->begun.reaches(this->begun.count() + 100));
      end(group, how);
      const unsigned before = this->begun.count();
      let_another_pool_work();
      EXPECT_EQ(this->begun.count(), before);
    }
    this->expect_quiet();
  }
}

TYPED_TEST(closing_a_group_of_armed, brings_members_to_an_end_that_start_themselves_by_their_handle) {
  SKIP_WAITS_UNDER_WINE();
  for (const ending how : all_endings) {
    for (int round = 0; round != 10; ++round) {
      std::optional<typename TypeParam::handle> itself;
      std::optional<cleanup_group> group(std::in_place);
      itself.emplace(TypeParam::create(*group, [&] {
        this->begun.add();
        TypeParam::start(*itself);  // works, or is discarded, but is not refused
        this->over.add();
      }));
      TypeParam::start(*itself);
      EXPECT_TRUE(this->begun.reaches(this->begun.count() + 3));
      end(group, how);
      const unsigned before = this->begun.count();
      let_another_pool_work();
      EXPECT_EQ(this->begun.count(), before);
    }
    this->expect_quiet();
  }
}

// ---- what has no end by itself -------------------------------------------------------------------------

/// A member each of whose ticks takes until the next has begun: at every moment one of them is running or queued.
struct overlapping_ticks {
  explicit overlapping_ticks(cleanup_group& group)
      : member(group.create_periodic_timer(1ms, [this] {
          begun.add();
          const unsigned mine = begun.count();
          EXPECT_TRUE(eventually([&] { return begun.count() > mine || over.is_open(); }));
        })) {
    member.start();
    EXPECT_TRUE(begun.reaches(3));
  }

  /// The closing brings the ticks to an end; the last one has no successor to wait for, and needs a hand.
  void help(const std::atomic<bool>& ended) {
    EXPECT_TRUE(eventually([&] {
      const unsigned before = begun.count();
      let_due_times_come();
      return ended || begun.count() == before;
    }));
    over.open();
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
  }

  tally begun;
  gate over;
  tidepool::periodic_timer_member member;
};

TEST_F(cleanup_groups, with_ticks_that_take_longer_than_the_period_come_to_an_end) {
  for (const bool cancel_pending : {false, true}) {
    cleanup_group group;
    overlapping_ticks ticks(group);
    std::atomic<bool> ended = false;
    const std::jthread closer([&] {
      group.close_members(cancel_pending);
      ended = true;
    });
    ticks.help(ended);
  }
}

TEST_F(cleanup_groups, with_such_ticks_that_somebody_else_waits_for_come_to_an_end_too) {
  for (const bool cancel_pending : {false, true}) {
    cleanup_group group;
    overlapping_ticks ticks(group);
    std::atomic<bool> waited = false;
    std::atomic<bool> ended = false;
    const std::jthread waiter = begin([&] {
      ticks.member.wait_for_callbacks();
      waited = true;
    });
    EXPECT_FALSE(waited);
    const std::jthread closer([&] {
      group.close_members(cancel_pending);
      EXPECT_TRUE(eventually([&] { return waited.load(); }));
      ended = true;
    });
    ticks.help(ended);
  }
}

TEST_F(cleanup_groups, whose_event_is_set_all_the_time_come_to_an_end) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  for (const reset_mode mode : {reset_mode::automatic, reset_mode::manual}) {
    for (const ending how : all_endings) {
      const event ready(mode);
      const std::jthread signaller([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          ready.set();
          std::this_thread::yield();
        }
      });
      for (int round = 0; round != 5; ++round) {
        tally ran;
        std::optional<cleanup_group> group(std::in_place);
        for (int i = 0; i != 10; ++i) {
          group
              ->create_wait(ready,
                            [&](tidepool::wait_activation& activation) {
                              activation.rearm();
                              ran.add();
                            })
              .arm();
        }
        EXPECT_TRUE(ran.reaches(20));
        end(group, how);
        const unsigned after = ran.count();
        let_another_pool_work();
        EXPECT_EQ(ran.count(), after);
      }
    }
  }
}

TEST_F(cleanup_groups, with_work_that_always_submits_itself_come_to_an_end_when_they_cancel) {
  for (int round = 0; round != 10; ++round) {
    std::optional<tidepool::work_member> itself;
    tally ran;
    std::atomic<int> alive = 0;
    cleanup_group group;
    itself.emplace(group.create_work([&, state = counted(alive)] {
      ran.add();
      itself->submit();
    }));
    itself->submit();
    EXPECT_TRUE(ran.reaches(3));
    const std::jthread waiter([member = *itself] {
      try {
        member.wait_for_callbacks();  // would have no end either
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::operation_not_permitted);
      }
    });
    group.close_members(true);
    EXPECT_EQ(alive, 0);
  }
}

// ---- the group as a whole ------------------------------------------------------------------------------

TEST_F(cleanup_groups, without_members_have_nothing_to_close) {
  cleanup_group group;
  group.close_members(false);
  group.close_members(true);
  cleanup_group other;
  other = std::move(group);
  other.close_members(false);
}

TEST_F(cleanup_groups, can_have_new_members_when_they_have_been_closed) {
  std::atomic<int> alive = 0;
  tally ran;
  cleanup_group group;
  for (unsigned round = 1; round <= 20; ++round) {
    const tidepool::work_member work = group.create_work([&, state = counted(alive)] { ran.add(); });
    const tidepool::timer_member timer = group.create_timer([&, state = counted(alive)] { ran.add(); });
    EXPECT_EQ(alive, 2);
    work.submit();
    timer.set_after(0s);
    EXPECT_TRUE(ran.reaches(2 * round));
    group.close_members(round % 2 == 0);
    EXPECT_EQ(alive, 0);
    EXPECT_REFUSED(work.submit());
  }
}

TEST_F(cleanup_groups, end_members_of_all_kinds_together) {
  for (const ending how : all_endings) {
    std::atomic<int> alive = 0;
    std::atomic<int> running = 0;
    tally ran;
    const auto callback = [&, state = counted(alive)] {
      ++running;
      std::this_thread::yield();
      ran.add();
      --running;
    };
    std::optional<cleanup_group> group(std::in_place);
    for (int i = 0; i != 50; ++i) {
      group->create_work(callback).submit();
      group->create_timer(callback).set_after(std::chrono::microseconds(i * 20));
      group->create_periodic_timer(1ms, callback).start();
      group->create_wait(event(reset_mode::manual, i % 2 == 0), callback).arm();
    }
    EXPECT_TRUE(ran.reaches(50));
    end(group, how);
    EXPECT_EQ(running, 0);
    EXPECT_EQ(alive, 1);
    const unsigned after = ran.count();
    let_due_times_come();
    EXPECT_EQ(ran.count(), after);
  }
}

}  // namespace
}  // namespace safe
