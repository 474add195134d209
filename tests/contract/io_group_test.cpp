// I/O objects as members of cleanup groups.
#include <atomic>
#include <deque>
#include <memory>

#include "contract/group_fixtures.hpp"
#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

/// A member of a group that accounts for what happens to it. It must live until the group has been closed.
class member : public account, public io {
 public:
  member(HANDLE file, PTP_CALLBACK_ENVIRON how, std::function<void()> f = nullptr)
      : io{file,
           [this, f = std::move(f)] {
             if (f) {
               f();
             }
             runs.add();
           },
           how} {}

  /// The group has released it.
  ~member() { disown(); }

  /// To be the group's cancel callback.
  static void CALLBACK on_cancel(PVOID object_context, PVOID cleanup_context) {
    account& its = *static_cast<member*>(static_cast<io*>(object_context));
    account::cancel(&its, cleanup_context);
  }
};

template <class Kind>
class io_group : public io_test {
 protected:
  const pool one_{1};
  environment where_{one_};
  cleanup_group group_;
  environment members_{environment{one_}.group(group_.get(), &member::on_cancel)};
};
TYPED_TEST_SUITE(io_group, io_kinds);

// Contract 29
TYPED_TEST(io_group, the_draining_form_waits_for_callbacks_that_are_queued_and_cancels_nothing) {
  TypeParam channel;
  TypeParam unused;
  channel.provide("word");
  request its{4};
  member queued{channel.reader(), this->members_};
  member idle{unused.reader(), this->members_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(queued.start_read(channel.reader(), its)));
  ASSERT_EQ(result_of(channel.reader(), its, TRUE), success(4));
  let_completions_arrive();
  blocked_call closing{[&] {
    this->group_.close_members(FALSE);
    EXPECT_EQ(queued.runs.count(), 1u);
  }};
  EXPECT_TRUE(closing.blocks());
  busy.release();
  EXPECT_TRUE(closing.returns());
  EXPECT_EQ(queued.cancels, 0);
  EXPECT_EQ(idle.cancels, 0);
  EXPECT_EQ(idle.runs.count(), 0u);
}

// Contract 30
TYPED_TEST(io_group, the_cancelling_form_drops_what_is_queued) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  member queued{channel.reader(), this->members_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(queued.start_read(channel.reader(), its)));
  ASSERT_EQ(result_of(channel.reader(), its, TRUE), success(4));
  let_completions_arrive();
  int call = 0;
  this->group_.close_members(TRUE, &call);  // would not return if it waited for the dropped one
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(queued.runs.count(), 0u);
  EXPECT_EQ(queued.cancels, 1);
  EXPECT_EQ(queued.cleanup_context, &call);
  EXPECT_EQ(queued.cancelled_on, this_thread());
  EXPECT_EQ(its.text(4), "word");
}

// Contract 29, 30
TYPED_TEST(io_group, a_running_callback_is_waited_for_in_both_forms_and_cancelled_after_it_has_returned) {
  for (const BOOL cancel_pending : {FALSE, TRUE}) {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    gate started;
    gate may_return;
    member running{channel.reader(), this->members_, [&] {
                     started.open();
                     EXPECT_TRUE(may_return.pass());
                     EXPECT_EQ(running.cancels, 0);
                   }};
    ASSERT_TRUE(under_way(running.start_read(channel.reader(), its)));
    ASSERT_TRUE(started.pass());
    blocked_call closing{[&] {
      this->group_.close_members(cancel_pending);
      EXPECT_EQ(running.runs.count(), 1u);
      EXPECT_EQ(running.cancels, cancel_pending ? 1 : 0);
    }};
    EXPECT_TRUE(closing.blocks());
    may_return.open();
    EXPECT_TRUE(closing.returns());
  }
}

// Contract 30
TYPED_TEST(io_group, the_cancel_callback_runs_for_idle_members_and_not_for_those_their_user_has_closed) {
  TypeParam first;
  TypeParam second;
  TypeParam third;
  third.provide("word");
  request its{4};
  member idle{first.reader(), this->members_};
  member closed{second.reader(), this->members_};
  member finished{third.reader(), this->members_};
  ASSERT_TRUE(under_way(finished.start_read(third.reader(), its)));
  finished.wait_for_callbacks();
  closed.close();
  this->group_.close_members(TRUE);
  EXPECT_EQ(idle.cancels, 1);
  EXPECT_EQ(closed.cancels, 0);
  EXPECT_EQ(finished.cancels, 1);
  EXPECT_EQ(finished.runs.count(), 1u);
  this->group_.close_members(TRUE);
  EXPECT_EQ(idle.cancels, 1);
}

// Contract 31
TYPED_TEST(io_group, a_member_may_close_itself_in_its_callback_while_the_group_closes) {
  SKIP_UNDER_WINE("ntdll shuts an I/O object down twice when both its user and its group release it, and aborts");
  for (int round = 0; round != 20; ++round) {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    gate started;
    gate may_close;
    member closing{channel.reader(), this->members_, [&] {
                     started.open();
                     EXPECT_TRUE(may_close.pass());
                     std::this_thread::yield();
                     closing.close();
                   }};
    ASSERT_TRUE(under_way(closing.start_read(channel.reader(), its)));
    ASSERT_TRUE(started.pass());
    may_close.open();
    this->group_.close_members(round % 2);
    ASSERT_EQ(closing.runs.count(), 1u);
    ASSERT_LE(closing.cancels, 1);
  }
}

// Contract 30
TYPED_TEST(io_group, a_creation_that_failed_leaves_no_member) {
  TypeParam channel;
  member only{channel.reader(), this->members_};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER,
                    CreateThreadpoolIo(
                        channel.reader(), [](PTP_CALLBACK_INSTANCE, PVOID, PVOID, ULONG, ULONG_PTR, PTP_IO) {}, nullptr,
                        this->members_));
  this->group_.close_members(TRUE);  // would call member::on_cancel with a null context
  EXPECT_EQ(only.cancels, 1);
}

// Contract 32
TYPED_TEST(io_group, a_group_can_be_used_again) {
  SKIP_UNDER_WINE("a release never learns of a request that completes while it waits");
  for (int round = 0; round != 20; ++round) {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    member used{channel.reader(), this->members_};
    ASSERT_TRUE(under_way(used.start_read(channel.reader(), its)));
    this->group_.close_members(FALSE);
    ASSERT_EQ(used.runs.count(), 1u);
    ASSERT_EQ(used.cancels, 0);
  }
}

// ---- pipes and sockets: requests that wait -----------------------------------------------------------

template <class Kind>
class io_group_pending : public io_group<Kind> {};
TYPED_TEST_SUITE(io_group_pending, io_stream_kinds);

// Contract 24, 29
TYPED_TEST(io_group_pending, the_draining_form_waits_for_requests_that_are_not_complete) {
  SKIP_UNDER_WINE("a release never learns of a request that completes while it waits");
  TypeParam channel;
  request its{4};
  member pending{channel.reader(), this->members_};
  ASSERT_EQ(pending.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  blocked_call closing{[&] {
    this->group_.close_members(FALSE);
    EXPECT_EQ(pending.runs.count(), 1u);
  }};
  EXPECT_TRUE(closing.blocks());
  channel.provide("word");
  EXPECT_TRUE(closing.returns());
  EXPECT_EQ(its.text(4), "word");
}

// Contract 24, 30
TYPED_TEST(io_group_pending, the_cancelling_form_neither_waits_for_a_request_nor_cancels_it) {
  SKIP_UNDER_WINE("a request that outlives its released member is called back with what was freed");
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  member pending{channel.reader(), this->members_};
  ASSERT_EQ(pending.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  this->group_.close_members(TRUE);
  EXPECT_EQ(pending.cancels, 1);
  EXPECT_FALSE(is_complete(its));
  channel.provide("word");
  EXPECT_EQ(WaitForSingleObject(complete, patience_in_milliseconds), WAIT_OBJECT_0);
  EXPECT_EQ(its.text(4), "word");
  drain_pool_of_one(this->where_);
  let_another_pool_work();
  EXPECT_EQ(pending.runs.count(), 0u);
}

// Contract 29
TYPED_TEST(io_group_pending, members_of_other_kinds_are_drained_with_it) {
  SKIP_UNDER_WINE("a release never learns of a request that completes while it waits");
  TypeParam channel;
  request its{4};
  member pending{channel.reader(), this->members_};
  std::atomic<int> ran{0};
  environment plain{this->one_};
  work job{[&] { ++ran; }, plain.group(this->group_.get())};
  ASSERT_EQ(pending.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  job.submit();
  blocked_call closing{[&] {
    this->group_.close_members(FALSE);
    EXPECT_EQ(pending.runs.count(), 1u);
    EXPECT_EQ(ran, 1);
  }};
  EXPECT_TRUE(closing.blocks());
  channel.provide("word");
  EXPECT_TRUE(closing.returns());
  job.disown();
}

}  // namespace
