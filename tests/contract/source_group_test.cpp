// Timers and waits as members of cleanup groups: idle, armed, queued, running, and released in both forms.
#include <array>
#include <atomic>
#include <deque>

#include "contract/group_fixtures.hpp"
#include "contract/source_kinds.hpp"

namespace {

using namespace contract;

/// A member of a group that accounts for what happens to it. It must live until the group has been closed.
template <class Source>
class member : public account, public Source {
 public:
  explicit member(PTP_CALLBACK_ENVIRON how, std::function<void()> f = nullptr)
      : Source{[this, f = std::move(f)] {
                 if (f) {
                   f();
                 }
                 runs.add();
               },
               how} {}

  /// The group has released it.
  ~member() { this->disown(); }

  /// To be the group's cancel callback.
  static void CALLBACK on_cancel(PVOID object_context, PVOID cleanup_context) {
    account& its = *static_cast<member*>(static_cast<typename Source::owner*>(object_context));
    account::cancel(&its, cleanup_context);
  }
};

template <class Source>
class source_group : public source_test {
 protected:
  cleanup_group group_;
  environment members_{environment{this->one_}.group(group_.get(), &member<Source>::on_cancel)};
};
TYPED_TEST_SUITE(source_group, source_kinds);

// Contract 29
TYPED_TEST(source_group, the_draining_form_runs_what_is_queued_and_cancels_nothing) {
  member<TypeParam> queued{this->members_};
  member<TypeParam> idle{this->members_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  queued.fire();
  queued.let_fired_be_queued();
  gate about_to_close;
  std::thread releaser{[&] {
    EXPECT_TRUE(about_to_close.pass());
    busy.release();
  }};
  about_to_close.open();
  this->group_.close_members(FALSE);
  EXPECT_EQ(queued.runs.count(), 1u);
  EXPECT_EQ(queued.cancels, 0);
  EXPECT_EQ(idle.runs.count(), 0u);
  EXPECT_EQ(idle.cancels, 0);
  releaser.join();
}

// Contract 30
TYPED_TEST(source_group, the_cancelling_form_drops_what_is_queued) {
  member<TypeParam> queued{this->members_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  queued.fire();
  queued.let_fired_be_queued();
  this->group_.close_members(TRUE);  // would not return if it waited for the dropped one
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(queued.runs.count(), 0u);
  EXPECT_EQ(queued.cancels, 1);
}

// Contract 29, 30
TYPED_TEST(source_group, an_armed_member_does_not_fire_after_the_release_in_either_form) {
  for (const BOOL cancel_pending : {FALSE, TRUE}) {
    member<TypeParam> armed{this->members_};
    armed.arm();
    this->group_.close_members(cancel_pending);
    armed.let_come_due();
    drain_pool_of_one(this->where_);
    EXPECT_EQ(armed.runs.count(), 0u);
    EXPECT_EQ(armed.cancels, cancel_pending ? 1 : 0);
  }
}

// Contract 30
TYPED_TEST(source_group, the_cancel_callback_runs_once_for_each_member_on_the_calling_thread_with_both_contexts) {
  member<TypeParam> idle{this->members_};
  member<TypeParam> armed{this->members_};
  member<TypeParam> unset{this->members_};
  member<TypeParam> finished{this->members_};
  member<TypeParam> queued{this->members_};
  armed.arm();
  unset.arm();
  unset.unset();
  finished.fire();
  EXPECT_TRUE(finished.runs.reaches(1));
  finished.wait_for_callbacks();
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  queued.fire();
  queued.let_fired_be_queued();
  int call = 0;
  this->group_.close_members(TRUE, &call);
  for (member<TypeParam>* each : {&idle, &armed, &unset, &finished, &queued}) {
    EXPECT_EQ(each->cancels, 1);
    EXPECT_EQ(each->cleanup_context, &call);
    EXPECT_EQ(each->cancelled_on, this_thread());
  }
  this->group_.close_members(TRUE);
  EXPECT_EQ(idle.cancels, 1);
}

// Contract 29, 30
TYPED_TEST(source_group, a_running_callback_is_waited_for_in_both_forms_and_cancelled_after_it_has_returned) {
  for (int round = 0; round != 20; ++round) {
    gate started;
    gate about_to_close;
    std::atomic<bool> finished{false};
    member<TypeParam> running{this->members_, [&] {
                                started.open();
                                EXPECT_TRUE(about_to_close.pass());
                                for (int i = 0; i != 100; ++i) {
                                  std::this_thread::yield();
                                }
                                EXPECT_EQ(running.cancels, 0);
                                finished = true;
                              }};
    running.fire();
    ASSERT_TRUE(started.pass());
    about_to_close.open();
    this->group_.close_members(round % 2);
    EXPECT_TRUE(finished);
    EXPECT_EQ(running.runs.count(), 1u);
    EXPECT_EQ(running.cancels, round % 2);
  }
}

// Contract 30
TYPED_TEST(source_group, there_is_no_cancel_callback_for_a_member_its_user_has_closed) {
  member<TypeParam> idle{this->members_};
  member<TypeParam> armed{this->members_};
  member<TypeParam> finished{this->members_};
  member<TypeParam> kept{this->members_};
  armed.arm();
  finished.fire();
  EXPECT_TRUE(finished.runs.reaches(1));
  finished.wait_for_callbacks();
  idle.close();
  armed.close();
  finished.close();
  drain_pool_of_one(this->where_);
  this->group_.close_members(TRUE);
  EXPECT_EQ(idle.cancels, 0);
  EXPECT_EQ(armed.cancels, 0);
  EXPECT_EQ(finished.cancels, 0);
  EXPECT_EQ(kept.cancels, 1);
}

// Contract 31
TYPED_TEST(source_group, a_member_may_close_itself_in_its_callback_while_the_group_closes) {
  for (int round = 0; round != 40; ++round) {
    gate started;
    gate may_close;
    member<TypeParam> its{this->members_, [&] {
                            started.open();
                            EXPECT_TRUE(may_close.pass());
                            std::this_thread::yield();
                            its.close();
                          }};
    its.fire();
    ASSERT_TRUE(started.pass());
    may_close.open();
    this->group_.close_members(round % 2);
    ASSERT_EQ(its.runs.count(), 1u);
    // Whoever came first has released it; its user's close leaves no cancel callback.
    ASSERT_LE(its.cancels, 1);
  }
}

// Contract 29, 30
TYPED_TEST(source_group, each_member_that_fires_while_the_group_closes_runs_at_most_once_and_not_afterwards) {
  const pool two{2};
  environment where{two};
  environment members{two};
  members.group(this->group_.get(), &member<TypeParam>::on_cancel);
  unsigned ran = 0;
  for (int round = 0; round != 30; ++round) {
    const bool cancelling = round % 2 != 0;
    std::deque<member<TypeParam>> some;
    for (int i = 0; i != 10; ++i) {
      some.emplace_back(members);
      some.back().fire();
    }
    if (round % 5 == 0) {
      EXPECT_TRUE(some.front().runs.reaches(1));
    }
    this->group_.close_members(cancelling);
    unsigned before = 0;
    for (member<TypeParam>& each : some) {
      before += each.runs.count();
      ASSERT_LE(each.runs.count(), 1u);
      ASSERT_EQ(each.cancels, cancelling ? 1 : 0);
    }
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
    unsigned after = 0;
    for (member<TypeParam>& each : some) {
      after += each.runs.count();
    }
    ASSERT_EQ(after, before) << "a callback ran after the release";
    ran += after;
  }
  EXPECT_GE(ran, 6u);
}

// Contract 32
TYPED_TEST(source_group, a_group_can_be_used_again) {
  for (int round = 0; round != 20; ++round) {
    member<TypeParam> its{this->members_};
    its.fire();
    ASSERT_TRUE(its.runs.reaches(1));
    this->group_.close_members(FALSE);
    ASSERT_EQ(its.cancels, 0);
    member<TypeParam> armed{this->members_};
    armed.arm();
    this->group_.close_members(TRUE);
    ASSERT_EQ(armed.cancels, 1);
    ASSERT_EQ(armed.runs.count(), 0u);
  }
}

// Contract 29, 34
TYPED_TEST(source_group, the_release_still_waits_for_a_disassociated_callback) {
  const pool two{2};
  environment where{two};
  environment members{two};
  members.group(this->group_.get());
  for (int round = 0; round != 10; ++round) {
    gate disassociated;
    gate about_to_close;
    std::atomic<bool> finished{false};
    TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                       DisassociateCurrentThreadFromCallback(instance);
                       disassociated.open();
                       EXPECT_TRUE(about_to_close.pass());
                       for (int i = 0; i != 100; ++i) {
                         std::this_thread::yield();
                       }
                       finished = true;
                     },
                     members};
    source.fire();
    ASSERT_TRUE(disassociated.pass());
    about_to_close.open();
    this->group_.close_members(round % 2);
    EXPECT_TRUE(finished);
    source.disown();
    occupier both{where, 2};  // when the release did not wait, the callback still uses this frame
    ASSERT_TRUE(both.held());
  }
}

// Contract 30
TYPED_TEST(source_group, a_group_without_a_cancel_callback_drops_as_well) {
  std::atomic<int> ran{0};
  environment quiet{this->one_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  TypeParam source{[&] { ++ran; }, quiet.group(this->group_.get())};
  source.fire();
  source.let_fired_be_queued();
  this->group_.close_members(TRUE);
  source.disown();
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran, 0);
}

#ifndef _WIN32  // where nothing tells that a thread has gone to sleep
// Contract 29, 30
TYPED_TEST(source_group, an_armed_member_does_not_fire_while_the_release_waits_for_another) {
  const pool two{2};
  environment members{two};
  members.group(this->group_.get(), &member<TypeParam>::on_cancel);
  for (const BOOL cancel_pending : {FALSE, TRUE}) {
    bool conclusive = false;
    for (int attempt = 0; attempt != 20 && !conclusive; ++attempt) {
      gate started;
      gate may_return;
      member<TypeParam> running{members, [&] {
                                  started.open();
                                  EXPECT_TRUE(may_return.pass());
                                }};
      member<TypeParam> armed{members};
      running.fire();
      ASSERT_TRUE(started.pass());
      const auto armed_at = monotonic_time();
      armed.arm();
      waiters closer{1, [&] {
                       this->group_.close_members(cancel_pending);
                       return DWORD{WAIT_OBJECT_0};
                     }};
      EXPECT_TRUE(closer.asleep());
      conclusive = monotonic_time() - armed_at < 8ms;
      armed.let_come_due();
      may_return.open();
      closer.join();
      if (conclusive) {
        EXPECT_EQ(armed.runs.count(), 0u);
      }
    }
    EXPECT_TRUE(conclusive);
  }
}
#endif

// ---- members of several kinds ----------------------------------------------------------------------

class mixed_group : public source_test {
 protected:
  cleanup_group group_;
};

// Contract 29
TEST_F(mixed_group, work_timers_waits_and_one_off_callbacks_are_drained_together) {
  environment members{one_};
  members.group(group_.get());
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  std::array<std::atomic<int>, 4> ran{};
  work job{[&] { ++ran[0]; }, members};
  timer_source clock{[&] { ++ran[1]; }, members};
  wait_source waiting{[&] { ++ran[2]; }, members};
  job.submit();
  clock.fire();
  waiting.fire();
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ++ran[3]; }, members));
  let_due_times_pass();
  let_signals_arrive();
  gate about_to_close;
  std::thread releaser{[&] {
    EXPECT_TRUE(about_to_close.pass());
    busy.release();
  }};
  about_to_close.open();
  group_.close_members(FALSE);
  for (const std::atomic<int>& each : ran) {
    EXPECT_EQ(each, 1);
  }
  job.disown();
  clock.disown();
  waiting.disown();
  releaser.join();
}

// Contract 14, 29, 30
TEST_F(mixed_group, a_periodic_member_ticks_no_more_after_the_release_in_either_form) {
  const pool two{2};
  environment where{two};
  environment members{two};
  members.group(group_.get());
  for (const BOOL cancel_pending : {FALSE, TRUE}) {
    tally ticked;
    timer periodic{[&] { ticked.add(); }, members};
    periodic.set_now(1);
    EXPECT_TRUE(ticked.reaches(3));
    group_.close_members(cancel_pending);
    const unsigned before = ticked.count();
    let_due_times_pass();
    occupier both{where, 2};
    EXPECT_TRUE(both.held());
    EXPECT_EQ(ticked.count(), before);
    periodic.disown();
  }
}

// Contract 20, 29, 30
TEST_F(mixed_group, a_released_wait_consumes_no_signal) {
  environment members{one_};
  members.group(group_.get());
  for (const BOOL cancel_pending : {FALSE, TRUE}) {
    const handle event = automatic_event();
    contract::wait armed{[] {}, members};
    armed.set(event);
    group_.close_members(cancel_pending);
    EXPECT_TRUE(SetEvent(event));
    let_signals_arrive();
    EXPECT_TRUE(take(event));
    armed.disown();
  }
}

}  // namespace
