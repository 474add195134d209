// WaitForThreadpoolIoCallbacks, in both forms.
#include <atomic>

#include "contract/io_fixtures.hpp"
#include "contract/waiters.hpp"

namespace {

using namespace contract;

template <class Kind>
class io_drain : public io_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};
TYPED_TEST_SUITE(io_drain, io_kinds);

// Contract 24
TYPED_TEST(io_drain, waiting_for_one_with_nothing_started_returns) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  io.wait_for_callbacks();
  io.cancel();
  io.wait_for_callbacks();
}

// Contract 24
TYPED_TEST(io_drain, it_waits_for_a_start_that_is_not_balanced_yet) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  io.start();
  blocked_call waiting{[&] { io.wait_for_callbacks(); }};
  EXPECT_TRUE(waiting.blocks());
  io.take_back();
  EXPECT_TRUE(waiting.returns());
}

// Contract 24
TYPED_TEST(io_drain, it_waits_for_a_callback_that_runs_in_both_forms) {
  for (const bool cancel : {false, true}) {
    TypeParam channel;
    channel.provide("word");
    gate started;
    gate may_return;
    std::atomic<bool> finished{false};
    request its{4};
    io held{channel.reader(), [&] {
              started.open();
              EXPECT_TRUE(may_return.pass());
              finished = true;
            }};
    ASSERT_TRUE(under_way(held.start_read(channel.reader(), its)));
    ASSERT_TRUE(started.pass());
    blocked_call waiting{[&] {
      if (cancel) {
        held.cancel();
      } else {
        held.wait_for_callbacks();
      }
      EXPECT_TRUE(finished) << (cancel ? "cancelling" : "draining");
    }};
    EXPECT_TRUE(waiting.blocks()) << (cancel ? "cancelling" : "draining");
    may_return.open();
    EXPECT_TRUE(waiting.returns());
  }
}

// Contract 24
TYPED_TEST(io_drain, it_waits_for_a_callback_that_the_pool_has_no_thread_for) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  recorded_io io{channel.reader(), this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
  blocked_call waiting{[&] {
    io.wait_for_callbacks();
    EXPECT_EQ(io.count(), 1u);
  }};
  EXPECT_TRUE(waiting.blocks());
  EXPECT_EQ(io.count(), 0u);
  busy.release();
  EXPECT_TRUE(waiting.returns());
}

// Contract 24
TYPED_TEST(io_drain, several_threads_can_wait_for_one_object) {
  for (int round = 0; round != 10; ++round) {
    TypeParam channel;
    channel.provide("word");
    gate started;
    gate may_return;
    std::atomic<int> ran{0};
    request its{4};
    io held{channel.reader(), [&] {
              started.open();
              EXPECT_TRUE(may_return.pass());
              ++ran;
            }};
    ASSERT_TRUE(under_way(held.start_read(channel.reader(), its)));
    ASSERT_TRUE(started.pass());
    let_waiters_find_it_over(held, may_return, ran);
  }
}

// Contract 24
TYPED_TEST(io_drain, the_cancelling_form_drops_callbacks_that_have_not_started) {
  TypeParam channel;
  channel.provide("wordword");
  request first{4};
  request second{4, 4};
  recorded_io io{channel.reader(), this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(io.start_read(channel.reader(), first)));
  ASSERT_TRUE(under_way(io.start_read(channel.reader(), second)));
  ASSERT_EQ(result_of(channel.reader(), first, TRUE), success(4));
  ASSERT_EQ(result_of(channel.reader(), second, TRUE), success(4));
  let_completions_arrive();
  io.cancel();              // would not return if it waited for the dropped ones
  io.wait_for_callbacks();  // nor would this
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(io.count(), 0u);
  EXPECT_EQ(first.text(4) + second.text(4), "wordword");
}

// Contract 24
TYPED_TEST(io_drain, what_is_started_after_a_drop_is_called_back) {
  TypeParam channel;
  recorded_io io{channel.reader(), this->where_};
  for (unsigned round = 0; round != 5; ++round) {
    channel.provide("wordword");
    request dropped{4, 8 * round};
    {
      occupier busy{this->where_, 1};
      ASSERT_TRUE(busy.held());
      ASSERT_TRUE(under_way(io.start_read(channel.reader(), dropped)));
      ASSERT_EQ(result_of(channel.reader(), dropped, TRUE), success(4));
      let_completions_arrive();
      io.cancel();
    }
    drain_pool_of_one(this->where_);
    request kept{4, 8 * round + 4};
    ASSERT_EQ(io.read(channel.reader(), kept), success(4));
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), round + 1);
    ASSERT_EQ(io.count_of(kept), 1u);
  }
}

// ---- pipes and sockets: requests that wait -----------------------------------------------------------

template <class Kind>
class io_drain_pending : public io_drain<Kind> {};
TYPED_TEST_SUITE(io_drain_pending, io_stream_kinds);

// Contract 24
TYPED_TEST(io_drain_pending, it_waits_for_a_request_that_is_not_complete_and_for_its_callback) {
  TypeParam channel;
  request its{4};
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  blocked_call waiting{[&] {
    io.wait_for_callbacks();
    EXPECT_EQ(io.count(), 1u);
  }};
  EXPECT_TRUE(waiting.blocks());
  channel.provide("word");
  EXPECT_TRUE(waiting.returns());
}

// Contract 24
TYPED_TEST(io_drain_pending, it_waits_for_every_request) {
  TypeParam channel;
  request first{4};
  request second{4};
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
  ASSERT_EQ(io.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
  blocked_call waiting{[&] {
    io.wait_for_callbacks();
    EXPECT_EQ(io.count(), 2u);
  }};
  channel.provide("word");
  EXPECT_EQ(io.of(first), success(4));
  EXPECT_TRUE(waiting.blocks());
  channel.provide("word");
  EXPECT_TRUE(waiting.returns());
}

// Contract 24
TYPED_TEST(io_drain_pending, the_cancelling_form_does_not_wait_for_a_request_nor_cancel_it) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  recorded_io io{channel.reader(), this->where_};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  io.cancel();
  EXPECT_FALSE(is_complete(its));
  channel.provide("word");
  EXPECT_EQ(WaitForSingleObject(complete, patience_in_milliseconds), WAIT_OBJECT_0);
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
  EXPECT_EQ(its.text(4), "word") << "the memory belongs to the request until it is complete";
  io.wait_for_callbacks();
  drain_pool_of_one(this->where_);
  let_another_pool_work();
  EXPECT_EQ(io.count(), 0u);
}

// Contract 24
TYPED_TEST(io_drain_pending, what_is_started_before_a_dropped_request_completes_is_called_back_alone) {
  SKIP_UNDER_WINE("the first to complete after a drop is taken for the dropped one");
  TypeParam channel;
  request dropped{4};
  request kept{4};
  recorded_io io{channel.reader(), this->where_};
  ASSERT_EQ(io.start_read(channel.reader(), dropped), code(ERROR_IO_PENDING));
  io.cancel();
  ASSERT_EQ(io.start_read(channel.reader(), kept), code(ERROR_IO_PENDING));
  channel.provide("drop");
  channel.provide("kept");
  EXPECT_EQ(io.of(kept), success(4));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count_of(kept), 1u);
  EXPECT_EQ(io.count_of(dropped), 0u);
  EXPECT_EQ(dropped.text(4) + kept.text(4), "dropkept");
}

// Contract 24
TYPED_TEST(io_drain_pending, a_drop_releases_another_thread_that_waits) {
  SKIP_UNDER_WINE("dropping the last callback does not wake another waiter");
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  blocked_call waiting{[&] { io.wait_for_callbacks(); }};
  EXPECT_TRUE(waiting.blocks());
  io.cancel();
  EXPECT_TRUE(waiting.returns());
  channel.provide("word");
  EXPECT_EQ(WaitForSingleObject(complete, patience_in_milliseconds), WAIT_OBJECT_0);
}

// Contract 24, 25
TYPED_TEST(io_drain_pending, cancelling_the_requests_and_waiting_comes_to_an_end) {
  for (int round = 0; round != 20; ++round) {
    TypeParam channel;
    request first{4};
    request second{4};
    recorded_io io{channel.reader()};
    ASSERT_EQ(io.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
    ASSERT_EQ(io.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
    EXPECT_TRUE(CancelIoEx(channel.reader(), nullptr));
    io.wait_for_callbacks();
    EXPECT_EQ(io.count(), 2u);
  }
}

}  // namespace
