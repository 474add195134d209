// Cleanup groups that are released while their members run, close themselves, and are made.
#include <array>
#include <atomic>
#include <deque>

#include "contract/group_fixtures.hpp"

namespace {

using namespace contract;

class cleanup_group_race : public group_test {};

// Contract 31
TEST_F(cleanup_group_race, a_member_may_close_itself_in_its_callback_while_the_group_closes) {
  struct self_closing : account {
    gate started;
    gate may_close;
  };
  for (int round = 0; round != 60; ++round) {
    self_closing its;
    const PTP_WORK object = CreateThreadpoolWork(
        [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK self) {
          auto& mine = *static_cast<self_closing*>(static_cast<account*>(context));
          mine.started.open();
          EXPECT_TRUE(mine.may_close.pass());
          if (mine.runs.count() % 2 == 0) {
            std::this_thread::yield();
          }
          CloseThreadpoolWork(self);
          mine.runs.add();
        },
        static_cast<account*>(&its), members_);
    ASSERT_NE(object, nullptr);
    SubmitThreadpoolWork(object);
    ASSERT_TRUE(its.started.pass());
    its.may_close.open();
    group_.close_members(round % 2);
    ASSERT_EQ(its.runs.count(), 1u);
    // Whoever came first has released it; its user's close leaves no cancel callback.
    ASSERT_LE(its.cancels, 1);
  }
}

// Contract 31
TEST_F(cleanup_group_race, a_member_may_close_itself_in_its_callback_before_the_group_closes) {
  struct self_closing : account {
    gate closed;
    gate may_return;
  };
  for (int round = 0; round != 20; ++round) {
    self_closing its;
    const PTP_WORK object = CreateThreadpoolWork(
        [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK self) {
          auto& mine = *static_cast<self_closing*>(static_cast<account*>(context));
          CloseThreadpoolWork(self);
          mine.closed.open();
          EXPECT_TRUE(mine.may_return.pass());
          mine.runs.add();
        },
        static_cast<account*>(&its), members_);
    ASSERT_NE(object, nullptr);
    SubmitThreadpoolWork(object);
    ASSERT_TRUE(its.closed.pass());
    its.may_return.open();
    group_.close_members(round % 2);
    ASSERT_EQ(its.runs.count(), 1u) << "the release did not wait for the callback of a closed member";
    ASSERT_EQ(its.cancels, 0);
  }
}

// Contract 29, 31
TEST_F(cleanup_group_race, the_release_covers_a_chain_of_one_off_callbacks_once_it_was_repeated) {
  // A callback that runs during a release makes a member that this release may or may not see; no release loses
  // one, and the group is empty after the one that follows the last link.
  struct link : account {
    environment where;
    std::atomic<unsigned> left{50};

    static void CALLBACK run(PTP_CALLBACK_INSTANCE, PVOID context) {
      auto& mine = *static_cast<link*>(static_cast<account*>(context));
      if (--mine.left != 0) {
        EXPECT_TRUE(TrySubmitThreadpoolCallback(&link::run, context, mine.where));
      }
      mine.runs.add();
    }
  };
  link chain;
  chain.where = members_;
  ASSERT_TRUE(TrySubmitThreadpoolCallback(&link::run, static_cast<account*>(&chain), members_));
  while (chain.left != 0) {
    group_.close_members(FALSE);
  }
  group_.close_members(FALSE);
  EXPECT_EQ(chain.runs.count(), 50u);
}

// Contract 30, 31
TEST_F(cleanup_group_race, each_one_off_callback_either_runs_or_is_cancelled_when_groups_close_under_load) {
  const pool two{2};
  environment members{two};
  members.group(group_.get(), &account::cancel);
  constexpr unsigned threads = 3;
  constexpr unsigned each = 400;
  std::deque<account> accounts(threads * each + 1);  // the last is not submitted under load: it must run
  std::atomic<unsigned> submitting{threads};
  std::vector<std::thread> submitters;
  for (unsigned i = 0; i != threads; ++i) {
    submitters.emplace_back([&, i] {
      for (unsigned j = 0; j != each; ++j) {
        EXPECT_TRUE(TrySubmitThreadpoolCallback(&account::run_one_off, &accounts[i * each + j], members));
      }
      --submitting;
    });
  }
  for (BOOL cancel_pending = FALSE; submitting != 0; cancel_pending = !cancel_pending) {
    group_.close_members(cancel_pending);
  }
  EXPECT_TRUE(TrySubmitThreadpoolCallback(&account::run_one_off, &accounts.back(), members));
  group_.close_members(FALSE);
  EXPECT_EQ(accounts.back().runs.count(), 1u);
  unsigned ran = 0;
  for (account& one : accounts) {
    EXPECT_EQ(static_cast<int>(one.runs.count()) + one.cancels, 1);
    ran += one.runs.count();
  }
  EXPECT_GT(ran, 0u);
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
}

// Contract 30
TEST_F(cleanup_group_race, each_idle_member_made_during_releases_is_released_once) {
  constexpr unsigned threads = 3;
  constexpr unsigned each = 300;
  std::deque<account> accounts(threads * each);
  std::atomic<unsigned> making{threads};
  std::vector<std::thread> makers;
  for (unsigned i = 0; i != threads; ++i) {
    makers.emplace_back([&, i] {
      environment mine{members_};
      for (unsigned j = 0; j != each; ++j) {
        EXPECT_NE(CreateThreadpoolWork(&account::run, &accounts[i * each + j], mine), nullptr);
      }
      --making;
    });
  }
  while (making != 0) {
    group_.close_members(TRUE);
  }
  group_.close_members(TRUE);
  for (account& one : accounts) {
    EXPECT_EQ(one.cancels, 1);
    EXPECT_EQ(one.runs.count(), 0u);
  }
  for (std::thread& maker : makers) {
    maker.join();
  }
}

// Contract 30
TEST_F(cleanup_group_race, members_whose_users_close_them_while_the_group_closes_are_released_once) {
  // Closing a member after the group has released it is not allowed; in its own callback it is.
  const pool two{2};
  environment members{two};
  members.group(group_.get(), &account::cancel);
  for (int round = 0; round != 30; ++round) {
    std::array<account, 20> accounts;
    for (account& its : accounts) {
      const PTP_WORK object = CreateThreadpoolWork(
          [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK self) {
            CloseThreadpoolWork(self);
            static_cast<account*>(context)->runs.add();
          },
          &its, members);
      ASSERT_NE(object, nullptr);
      SubmitThreadpoolWork(object);
    }
    group_.close_members(TRUE);
    for (account& its : accounts) {
      // Dropped before it ran, and then the group's to release; or it ran and released itself.
      EXPECT_EQ(static_cast<int>(its.runs.count()) + its.cancels, 1);
    }
  }
}

// Contract 29
TEST_F(cleanup_group_race, a_group_can_be_closed_in_a_callback_that_is_no_member) {
  account queued;
  account idle;
  const pool two{2};
  environment members{two};
  members.group(group_.get(), &account::cancel);
  const PTP_WORK object = CreateThreadpoolWork(&account::run, &queued, members);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  ASSERT_NE(CreateThreadpoolWork(&account::run, &idle, members), nullptr);
  thread_number closer_thread = 0;
  environment where{two};
  work closer{[&] {
                closer_thread = this_thread();
                group_.close_members(TRUE);
              },
              where};
  closer.submit();
  closer.wait();
  EXPECT_EQ(idle.cancels, 1);
  EXPECT_EQ(idle.cancelled_on, closer_thread);
  EXPECT_EQ(queued.cancels, 1);
}

// Contract 30
TEST_F(cleanup_group_race, a_cancel_callback_can_use_the_pool_and_make_a_member_of_the_same_group) {
  struct heir : account {
    environment where;

    static void CALLBACK pass_on(PVOID object_context, PVOID) {
      auto& mine = *static_cast<heir*>(static_cast<account*>(object_context));
      ++mine.cancels;
      work job{[&mine] { mine.runs.add(); }};
      job.submit();
      job.wait();
      mine.where->CleanupGroupCancelCallback = &account::cancel;
      EXPECT_NE(CreateThreadpoolWork(&account::run, object_context, mine.where), nullptr);
    }
  } its;
  its.where = environment{one_}.group(group_.get(), &heir::pass_on);
  ASSERT_NE(CreateThreadpoolWork(&account::run, static_cast<account*>(&its), its.where), nullptr);
  group_.close_members(TRUE);
  EXPECT_EQ(its.runs.count(), 1u);
  group_.close_members(TRUE);
  EXPECT_EQ(its.cancels, 2);
}

}  // namespace
