// The OVERLAPPED of a request: its status, its event, and GetOverlappedResult, with and without an I/O object.
#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

bool becomes_signalled(HANDLE object) { return WaitForSingleObject(object, patience_in_milliseconds) == WAIT_OBJECT_0; }

template <class Kind>
class io_overlapped : public io_test {};
TYPED_TEST_SUITE(io_overlapped, io_kinds);

TYPED_TEST(io_overlapped, a_request_needs_no_object) {
  TypeParam channel;
  channel.provide("word");
  const handle complete = manual_event();
  request its{10};
  its.hEvent = complete;
  ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
  EXPECT_EQ(result_of(channel.reader(), its, TRUE), success(4));
  EXPECT_EQ(its.text(4), "word");
  EXPECT_TRUE(HasOverlappedIoCompleted(&its));
}

TYPED_TEST(io_overlapped, its_event_is_set_when_its_result_was_waited_for) {
  // If it were set later it could be taken for that of the next request with this event.
  TypeParam channel;
  const handle complete = manual_event();
  for (unsigned round = 0; round != repetitions; ++round) {
    channel.provide("word");
    request its{4, 4 * round};
    its.hEvent = complete;
    ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
    ASSERT_EQ(result_of(channel.reader(), its, TRUE), success(4));
    ASSERT_TRUE(take(complete)) << round;
  }
}

TYPED_TEST(io_overlapped, without_an_event_the_handle_is_waited_for) {
  TypeParam channel;
  for (int round = 0; round != 10; ++round) {
    channel.provide("word");
    request its{4, 4 * static_cast<unsigned>(round)};
    ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
    ASSERT_EQ(result_of(channel.reader(), its, TRUE), success(4));
    ASSERT_EQ(its.text(4), "word");
  }
}

TYPED_TEST(io_overlapped, a_write_needs_no_object) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{"word"};
  its.hEvent = complete;
  ASSERT_TRUE(under_way(issue_write(channel.writer(), its)));
  EXPECT_EQ(result_of(channel.writer(), its, TRUE), success(4));
  EXPECT_EQ(channel.taken(4), "word");
}

TYPED_TEST(io_overlapped, its_event_is_set_by_the_time_of_the_callback) {
  TypeParam channel;
  channel.provide("word");
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  gate came;
  io object{channel.reader(), [&] {
              EXPECT_TRUE(becomes_signalled(complete));
              EXPECT_TRUE(is_complete(its));
              came.open();
            }};
  ASSERT_TRUE(under_way(object.start_read(channel.reader(), its)));
  EXPECT_TRUE(came.pass());
}

TYPED_TEST(io_overlapped, an_event_that_was_set_is_reset_by_the_start) {
  TypeParam channel;
  const handle complete = manual_event(true);
  request its{4};
  its.hEvent = complete;
  if (TypeParam::is_stream) {
    ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
    EXPECT_FALSE(take(complete));
    EXPECT_FALSE(is_complete(its));
    channel.provide("word");
  } else {
    channel.provide("word");
    ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
  }
  EXPECT_TRUE(becomes_signalled(complete));
  EXPECT_TRUE(is_complete(its));
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
}

TYPED_TEST(io_overlapped, it_is_complete_although_the_pool_has_no_thread_for_its_callback) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  const pool one{1};
  environment where{one};
  recorded_io io{channel.reader(), where};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
  EXPECT_TRUE(eventually([&] { return is_complete(its); }));
  EXPECT_EQ(its.text(4), "word");
  EXPECT_EQ(io.count(), 0u);
  busy.release();
  EXPECT_EQ(io.of(its), success(4));
}

TYPED_TEST(io_overlapped, its_event_is_set_although_the_pool_has_no_thread_for_its_callback) {
  TypeParam channel;
  channel.provide("word");
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  const pool one{1};
  environment where{one};
  recorded_io io{channel.reader(), where};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
  EXPECT_TRUE(becomes_signalled(complete));
  EXPECT_EQ(its.text(4), "word");
  EXPECT_EQ(io.count(), 0u);
}

TYPED_TEST(io_overlapped, a_callback_on_a_pool_of_one_thread_can_wait_for_a_request_of_its_own) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  const pool one{1};
  environment where{one};
  recorded_io io{channel.reader(), where};
  work callback{[&] {
                  ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
                  EXPECT_EQ(result_of(channel.reader(), its, TRUE), success(4));
                  EXPECT_EQ(its.text(4), "word");
                },
                where};
  callback.submit();
  callback.wait();
  EXPECT_EQ(io.of(its), success(4));
}

// Documented for GetQueuedCompletionStatus
TYPED_TEST(io_overlapped, an_event_whose_lowest_bit_is_set_asks_for_no_callback) {
  TypeParam channel;
  channel.provide("wordword");
  const handle complete = manual_event();
  request silent{4};
  silent.hEvent = reinterpret_cast<HANDLE>(reinterpret_cast<ULONG_PTR>(HANDLE{complete}) | 1);
  request loud{4, 4};
  recorded_io io{channel.reader()};
  io.start();  // which is the second one's
  ASSERT_TRUE(under_way(issue_read(channel.reader(), silent)));
  EXPECT_TRUE(becomes_signalled(complete));
  EXPECT_EQ(silent.text(4), "word");
  let_completions_arrive();
  EXPECT_EQ(io.count(), 0u);
  ASSERT_TRUE(under_way(issue_read(channel.reader(), loud)));
  EXPECT_EQ(io.of(loud), success(4));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

TYPED_TEST(io_overlapped, an_automatic_event_is_set_once) {
  TypeParam channel;
  channel.provide("word");
  const handle complete = automatic_event();
  request its{4};
  its.hEvent = complete;
  ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
  EXPECT_TRUE(becomes_signalled(complete));
  EXPECT_FALSE(take(complete));
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
}

TYPED_TEST(io_overlapped, a_request_can_be_used_again_once_it_is_complete) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  for (unsigned round = 0; round != 50; ++round) {
    channel.provide(std::to_string(1000 + round));
    its.place(4 * round);
    ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
    ASSERT_EQ(result_of(channel.reader(), its, TRUE), success(4));
    ASSERT_EQ(its.text(4), std::to_string(1000 + round));
  }
}

TYPED_TEST(io_overlapped, a_wait_object_can_wait_for_its_event) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  gate came;
  const PTP_WAIT wait = CreateThreadpoolWait(
      [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WAIT, TP_WAIT_RESULT) { static_cast<gate*>(context)->open(); },
      &came, nullptr);
  ASSERT_NE(wait, nullptr);
  SetThreadpoolWait(wait, complete, nullptr);
  channel.provide("word");
  EXPECT_TRUE(under_way(issue_read(channel.reader(), its)));
  EXPECT_TRUE(came.pass());
  WaitForThreadpoolWaitCallbacks(wait, FALSE);
  CloseThreadpoolWait(wait);
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
}

// ---- pipes and sockets: requests that wait -----------------------------------------------------------

template <class Kind>
class io_overlapped_pending : public io_test {};
TYPED_TEST_SUITE(io_overlapped_pending, io_stream_kinds);

TYPED_TEST(io_overlapped_pending, it_says_that_it_is_pending_until_it_is_complete) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
  EXPECT_EQ(its.Internal, ULONG_PTR{STATUS_PENDING});
  EXPECT_FALSE(HasOverlappedIoCompleted(&its));
  EXPECT_FALSE(take(complete));
  EXPECT_EQ(result_of(channel.reader(), its).error, code(ERROR_IO_INCOMPLETE));
  channel.provide("word");
  EXPECT_TRUE(becomes_signalled(complete));
  EXPECT_TRUE(HasOverlappedIoCompleted(&its));
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
  EXPECT_EQ(result_of(channel.reader(), its), success(4)) << "it can be asked again";
  EXPECT_EQ(its.InternalHigh, 4u);
}

TYPED_TEST(io_overlapped_pending, with_an_object_it_says_that_it_is_pending_as_well) {
  TypeParam channel;
  request its{4};
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  EXPECT_FALSE(HasOverlappedIoCompleted(&its));
  EXPECT_EQ(result_of(channel.reader(), its).error, code(ERROR_IO_INCOMPLETE));
  channel.provide("word");
  EXPECT_EQ(io.of(its), success(4));
  EXPECT_TRUE(HasOverlappedIoCompleted(&its));
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
}

TYPED_TEST(io_overlapped_pending, whoever_waits_for_its_result_is_released_by_the_completion) {
  for (const bool with_event : {true, false}) {
    TypeParam channel;
    const handle complete = manual_event();
    request its{4};
    its.hEvent = with_event ? HANDLE{complete} : nullptr;
    ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
    blocked_call waiting{[&] { EXPECT_EQ(result_of(channel.reader(), its, TRUE), success(4)); }};
    EXPECT_TRUE(waiting.blocks());
    channel.provide("word");
    EXPECT_TRUE(waiting.returns());
  }
}

TYPED_TEST(io_overlapped_pending, its_event_is_set_when_its_result_was_waited_for) {
  TypeParam channel;
  const handle complete = manual_event();
  for (int round = 0; round != repetitions; ++round) {
    request its{4};
    its.hEvent = complete;
    ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
    together(2, [&](unsigned i) {
      if (i == 0) {
        channel.provide("word");
      } else {
        EXPECT_EQ(result_of(channel.reader(), its, TRUE), success(4));
        EXPECT_TRUE(take(complete)) << round;
      }
    });
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TYPED_TEST(io_overlapped_pending, whoever_waits_for_its_result_is_released_by_its_cancellation) {
  for (const bool with_event : {true, false}) {
    TypeParam channel;
    const handle complete = manual_event();
    request its{4};
    its.hEvent = with_event ? HANDLE{complete} : nullptr;
    ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
    blocked_call waiting{
        [&] { EXPECT_EQ(result_of(channel.reader(), its, TRUE), (outcome{ERROR_OPERATION_ABORTED, 0})); }};
    EXPECT_TRUE(waiting.blocks());
    EXPECT_TRUE(CancelIoEx(channel.reader(), &its));
    EXPECT_TRUE(waiting.returns());
  }
}

TYPED_TEST(io_overlapped_pending, its_event_is_set_also_when_it_fails) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
  channel.close_writer();
  EXPECT_TRUE(becomes_signalled(complete));
  EXPECT_EQ(result_of(channel.reader(), its),
            (std::is_same_v<TypeParam, io_pipe> ? outcome{ERROR_BROKEN_PIPE, 0} : success(0)));
}

TYPED_TEST(io_overlapped_pending, several_requests_have_events_of_their_own) {
  TypeParam channel;
  const handle first_complete = manual_event();
  const handle second_complete = manual_event();
  request first{4};
  request second{4};
  first.hEvent = first_complete;
  second.hEvent = second_complete;
  ASSERT_EQ(issue_read(channel.reader(), first), code(ERROR_IO_PENDING));
  ASSERT_EQ(issue_read(channel.reader(), second), code(ERROR_IO_PENDING));
  channel.provide("word");
  EXPECT_TRUE(becomes_signalled(first_complete));
  EXPECT_FALSE(take(second_complete));
  EXPECT_FALSE(is_complete(second));
  channel.provide("more");
  EXPECT_TRUE(becomes_signalled(second_complete));
  EXPECT_EQ(first.text(4) + second.text(4), "wordmore");
}

TYPED_TEST(io_overlapped_pending, an_event_closed_while_the_request_is_under_way_harms_nobody) {
  TypeParam channel;
  handle complete = manual_event();
  const handle second = duplicate(complete);
  request its{4};
  its.hEvent = complete;
  ASSERT_EQ(issue_read(channel.reader(), its), code(ERROR_IO_PENDING));
  complete.close();
  channel.provide("word");
  EXPECT_TRUE(becomes_signalled(second));
  EXPECT_TRUE(is_complete(its));
}

}  // namespace
