// Cleanup groups: members are released as a unit, draining or dropping what is queued.
#include <array>
#include <atomic>

#include "contract/group_fixtures.hpp"

namespace {

using namespace contract;

class cleanup_group_release : public group_test {};

// Contract 29
TEST_F(cleanup_group_release, the_draining_form_runs_every_queued_callback) {
  std::array<account, 4> accounts;
  account one_off;
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  for (account& each : accounts) {
    submitted_member(each, 5);
  }
  ASSERT_TRUE(one_off_member(one_off));
  gate about_to_close;
  std::thread releaser{[&] {
    EXPECT_TRUE(about_to_close.pass());
    busy.release();
  }};
  about_to_close.open();
  group_.close_members(FALSE);
  for (account& each : accounts) {
    EXPECT_EQ(each.runs.count(), 5u);
    EXPECT_EQ(each.cancels, 0);
  }
  EXPECT_EQ(one_off.runs.count(), 1u);
  EXPECT_EQ(one_off.cancels, 0);
  releaser.join();
}

// Contract 29
TEST_F(cleanup_group_release, no_callback_of_a_member_runs_when_it_returns) {
  environment members{one_};
  members.group(group_.get());
  for (int round = 0; round != 40; ++round) {
    gate started;
    gate may_return;
    std::atomic<bool> finished{false};
    work object{[&] {
                  started.open();
                  EXPECT_TRUE(may_return.pass());
                  std::this_thread::yield();
                  finished = true;
                },
                members};
    object.submit();
    ASSERT_TRUE(started.pass());
    may_return.open();
    group_.close_members(FALSE);
    EXPECT_TRUE(finished);
    object.disown();
  }
}

// Contract 29
TEST_F(cleanup_group_release, an_idle_member_is_released_without_a_cancel_callback_by_the_draining_form) {
  account idle;
  account used;
  member(idle);
  submitted_member(used);
  group_.close_members(FALSE);
  EXPECT_EQ(idle.runs.count(), 0u);
  EXPECT_EQ(idle.cancels, 0);
  EXPECT_EQ(used.runs.count(), 1u);
  EXPECT_EQ(used.cancels, 0);
}

// Contract 30
TEST_F(cleanup_group_release, the_cancelling_form_drops_every_queued_callback) {
  account queued;
  account one_off;
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  submitted_member(queued, 5);
  ASSERT_TRUE(one_off_member(one_off));
  group_.close_members(TRUE);
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(queued.runs.count(), 0u);
  EXPECT_EQ(one_off.runs.count(), 0u);
}

// Contract 30
TEST_F(cleanup_group_release, the_cancel_callback_runs_once_per_object_and_not_per_submission) {
  account queued;
  account one_off;
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  submitted_member(queued, 5);
  ASSERT_TRUE(one_off_member(one_off));
  group_.close_members(TRUE);
  EXPECT_EQ(queued.cancels, 1);
  EXPECT_EQ(one_off.cancels, 1);
}

// Contract 30
TEST_F(cleanup_group_release, the_cancel_callback_runs_for_idle_members_too) {
  account never_submitted;
  account finished;
  member(never_submitted);
  const PTP_WORK object = submitted_member(finished, 3);
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  group_.close_members(TRUE);
  EXPECT_EQ(never_submitted.cancels, 1);
  EXPECT_EQ(finished.runs.count(), 3u);
  EXPECT_EQ(finished.cancels, 1);
}

// Contract 30
TEST_F(cleanup_group_release, the_cancel_callback_does_not_run_for_a_member_its_user_has_closed) {
  account closed;
  account kept;
  const PTP_WORK object = submitted_member(closed);
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  CloseThreadpoolWork(object);
  member(kept);
  drain_pool_of_one(where_);
  group_.close_members(TRUE);
  EXPECT_EQ(closed.cancels, 0);
  EXPECT_EQ(kept.cancels, 1);
}

// Contract 30
TEST_F(cleanup_group_release, the_cancel_callback_does_not_run_for_a_queued_member_its_user_has_closed) {
  account closed;
  account kept;
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  CloseThreadpoolWork(submitted_member(closed));
  submitted_member(kept);
  group_.close_members(TRUE);
  EXPECT_EQ(closed.cancels, 0);
  EXPECT_EQ(closed.runs.count(), 0u);
  EXPECT_EQ(kept.cancels, 1);
}

// Contract 30, 31
TEST_F(cleanup_group_release, the_cancel_callback_does_not_run_for_a_one_off_callback_that_has_run) {
  account one_off;
  ASSERT_TRUE(one_off_member(one_off));
  drain_pool_of_one(where_);
  group_.close_members(TRUE);
  EXPECT_EQ(one_off.runs.count(), 1u);
  EXPECT_EQ(one_off.cancels, 0);
}

// Contract 30
TEST_F(cleanup_group_release, the_cancel_callback_gets_the_objects_and_the_calls_context_on_the_calling_thread) {
  std::array<account, 3> accounts;
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  member(accounts[0]);
  submitted_member(accounts[1]);
  ASSERT_TRUE(one_off_member(accounts[2]));
  int call = 0;
  group_.close_members(TRUE, &call);
  for (account& each : accounts) {
    EXPECT_EQ(each.cancels, 1);
    EXPECT_EQ(each.cleanup_context, &call);
    EXPECT_EQ(each.cancelled_on, this_thread());
  }
}

// Contract 30
TEST_F(cleanup_group_release, the_cancel_callbacks_run_after_the_running_callbacks_have_returned) {
  struct observed {
    gate started;
    gate may_return;
    std::atomic<bool> finished{false};
    std::atomic<int> cancelled_too_early{0};
    std::atomic<int> cancelled{0};

    static void CALLBACK run(PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) {
      auto& its = *static_cast<observed*>(context);
      its.started.open();
      EXPECT_TRUE(its.may_return.pass());
      for (int i = 0; i != 100; ++i) {
        std::this_thread::yield();
      }
      its.finished = true;
    }

    static void CALLBACK cancel(PVOID context, PVOID) {
      auto& its = *static_cast<observed*>(context);
      its.cancelled_too_early += its.finished ? 0 : 1;
      ++its.cancelled;
    }
  };
  for (int round = 0; round != 20; ++round) {
    observed its;
    environment members = environment{one_}.group(group_.get(), &observed::cancel);
    const PTP_WORK running = CreateThreadpoolWork(&observed::run, &its, members);
    const PTP_WORK idle = CreateThreadpoolWork(&observed::run, &its, members);
    ASSERT_NE(running, nullptr);
    ASSERT_NE(idle, nullptr);
    SubmitThreadpoolWork(running);
    ASSERT_TRUE(its.started.pass());
    gate about_to_close;
    std::thread releaser{[&] {
      EXPECT_TRUE(about_to_close.pass());
      its.may_return.open();
    }};
    about_to_close.open();
    group_.close_members(TRUE);
    EXPECT_TRUE(its.finished);
    EXPECT_EQ(its.cancelled_too_early, 0);
    EXPECT_EQ(its.cancelled, 2);
    releaser.join();
  }
}

// Contract 30
TEST_F(cleanup_group_release, exactly_what_has_not_started_is_dropped_and_what_runs_is_waited_for) {
  // `blocker`, of high priority and no member, takes the thread after the first callback: while it holds it, the
  // release can return only by dropping the rest.
  for (int round = 0; round != 20; ++round) {
    struct observed : account {
      gate started;
      gate may_return;
      std::atomic<int> begun{0};
      std::atomic<int> finished{0};
    } its;
    const PTP_WORK object = CreateThreadpoolWork(
        [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) {
          auto& mine = *static_cast<observed*>(static_cast<account*>(context));
          if (mine.begun++ == 0) {
            mine.started.open();
            EXPECT_TRUE(mine.may_return.pass());
          }
          ++mine.finished;
        },
        static_cast<account*>(&its), members_);
    ASSERT_NE(object, nullptr);
    SubmitThreadpoolWork(object);
    ASSERT_TRUE(its.started.pass());

    gate release_blocker;
    environment urgent{one_};
    work blocker{[&] { EXPECT_TRUE(release_blocker.pass()); }, urgent.priority(TP_CALLBACK_PRIORITY_HIGH)};
    blocker.submit();
    for (int i = 0; i != 5; ++i) {
      SubmitThreadpoolWork(object);
    }

    gate about_to_close;
    gate closed;
    std::thread closer{[&] {
      about_to_close.open();
      group_.close_members(TRUE);
      EXPECT_EQ(its.finished, 1) << "the running callback was not waited for";
      EXPECT_EQ(its.cancels, 1);
      closed.open();
    }};
    EXPECT_TRUE(about_to_close.pass());
    its.may_return.open();
    EXPECT_TRUE(closed.pass());
    release_blocker.open();
    closer.join();
    drain_pool_of_one(where_);
    EXPECT_EQ(its.begun, 1);
  }
}

// Contract 30
TEST_F(cleanup_group_release, a_group_without_a_cancel_callback_drops_as_well) {
  std::atomic<int> ran{0};
  environment quiet{one_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  work object{[&] { ++ran; }, quiet.group(group_.get(), nullptr)};
  object.submit(3);
  group_.close_members(TRUE);
  object.disown();
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(ran, 0);
}

// Contract 29
TEST_F(cleanup_group_release, members_can_be_waited_for_and_dropped_like_other_objects) {
  account its;
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  const PTP_WORK object = submitted_member(its, 4);
  WaitForThreadpoolWorkCallbacks(object, TRUE);
  SubmitThreadpoolWork(object);
  busy.release();
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  EXPECT_EQ(its.runs.count(), 1u);
  EXPECT_EQ(its.cancels, 0);
}

// Contract 29
TEST_F(cleanup_group_release, members_may_live_on_different_pools) {
  const pool other{2};
  std::array<account, 3> accounts;
  environment elsewhere{other};
  environment on_default;
  elsewhere.group(group_.get(), &account::cancel);
  on_default.group(group_.get(), &account::cancel);
  submitted_member(accounts[0], 3);
  const PTP_WORK there = CreateThreadpoolWork(&account::run, &accounts[1], elsewhere);
  ASSERT_NE(there, nullptr);
  SubmitThreadpoolWork(there);
  ASSERT_TRUE(TrySubmitThreadpoolCallback(&account::run_one_off, &accounts[2], on_default));
  group_.close_members(FALSE);
  EXPECT_EQ(accounts[0].runs.count(), 3u);
  EXPECT_EQ(accounts[1].runs.count(), 1u);
  EXPECT_EQ(accounts[2].runs.count(), 1u);
}

// Contract 32
TEST_F(cleanup_group_release, closing_the_members_of_an_empty_group_is_harmless) {
  group_.close_members(TRUE);
  group_.close_members(FALSE);
  group_.close_members(TRUE);
}

// Contract 32
TEST_F(cleanup_group_release, closing_the_members_twice_releases_each_once) {
  account its;
  submitted_member(its, 2);
  group_.close_members(TRUE);
  group_.close_members(TRUE);
  group_.close_members(FALSE);
  EXPECT_EQ(its.cancels, 1);
}

// Contract 32
TEST_F(cleanup_group_release, a_group_can_be_used_again) {
  for (int round = 0; round != 30; ++round) {
    account its;
    account one_off;
    submitted_member(its, 2);
    ASSERT_TRUE(one_off_member(one_off));
    group_.close_members(FALSE);
    ASSERT_EQ(its.runs.count(), 2u);
    ASSERT_EQ(one_off.runs.count(), 1u);
    account idle;
    member(idle);
    group_.close_members(TRUE);
    ASSERT_EQ(idle.cancels, 1);
    ASSERT_EQ(its.cancels, 0);
  }
}

// Contract 32
TEST_F(cleanup_group_release, a_group_can_be_closed_after_its_members_closed_themselves) {
  account its;
  const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
  environment members = environment{one_}.group(group, &account::cancel);
  const PTP_WORK object = CreateThreadpoolWork(&account::run, &its, members);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  CloseThreadpoolWork(object);
  drain_pool_of_one(where_);
  CloseThreadpoolCleanupGroupMembers(group, TRUE, nullptr);
  CloseThreadpoolCleanupGroup(group);
  EXPECT_EQ(its.cancels, 0);
}

}  // namespace
