// FILE_SKIP_COMPLETION_PORT_ON_SUCCESS: what succeeds at once has no callback, and its start is taken back.
#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

/// Starts a read; what succeeds at once is balanced at once. Returns how it was issued.
DWORD read_or_take_back(io& with, HANDLE file, request& its) {
  const DWORD issued = with.start_read(file, its);
  if (issued == NO_ERROR) {
    with.take_back();
  }
  return issued;
}

template <class Kind>
class io_skip_mode : public io_test {};
TYPED_TEST_SUITE(io_skip_mode, io_kinds);

// Contract 23
TYPED_TEST(io_skip_mode, each_request_is_either_complete_at_once_or_called_back) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("skip on success works for pipes only");
  }
  TypeParam channel;
  ASSERT_TRUE(SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  recorded_io io{channel.reader()};
  unsigned called_back = 0;
  for (unsigned round = 0; round != 50; ++round) {
    channel.provide("word");
    request its{4, 4 * round};
    const DWORD issued = read_or_take_back(io, channel.reader(), its);
    ASSERT_TRUE(under_way(issued)) << issued;
    if (issued == ERROR_IO_PENDING) {
      ++called_back;
    }
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), called_back);
    ASSERT_EQ(result_of(channel.reader(), its), success(4));
    ASSERT_EQ(its.text(4), "word");
  }
}

template <class Kind>
class io_skip_mode_stream : public io_test {};
TYPED_TEST_SUITE(io_skip_mode_stream, io_stream_kinds);

// Contract 23
TYPED_TEST(io_skip_mode_stream, a_read_of_what_is_there_succeeds_at_once_without_a_callback) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("skip on success works for pipes only");
  }
  TypeParam channel;
  ASSERT_TRUE(SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  recorded_io io{channel.reader()};
  channel.provide("word");
  request its{4};
  EXPECT_EQ(read_or_take_back(io, channel.reader(), its), code(NO_ERROR));
  EXPECT_TRUE(is_complete(its));
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
  EXPECT_EQ(its.text(4), "word");
  io.wait_for_callbacks();  // would not return if the start were still there
  let_another_pool_work();
  EXPECT_EQ(io.count(), 0u);
}

// Contract 23
TYPED_TEST(io_skip_mode_stream, without_it_a_read_that_succeeds_at_once_is_called_back) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  channel.provide("word");
  request its{4};
  EXPECT_TRUE(under_way(io.start_read(channel.reader(), its)));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

// Contract 23
TYPED_TEST(io_skip_mode_stream, a_write_that_there_is_room_for_succeeds_at_once_without_a_callback) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("skip on success works for pipes only");
  }
  TypeParam channel;
  ASSERT_TRUE(SetFileCompletionNotificationModes(channel.writer(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  recorded_io io{channel.writer()};
  request its{"word"};
  ASSERT_EQ(io.start_write(channel.writer(), its), code(NO_ERROR));
  io.take_back();
  EXPECT_EQ(channel.taken(4), "word");
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 0u);
}

// Contract 23
TYPED_TEST(io_skip_mode_stream, a_request_that_had_to_wait_is_called_back) {
  TypeParam channel;
  if (!SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS)) {
    SKIP_UNDER_WINE("skip on success works for pipes only");
    FAIL() << GetLastError();
  }
  recorded_io io{channel.reader()};
  for (unsigned round = 0; round != 20; ++round) {
    request its{4};
    ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
    channel.provide("word");
    ASSERT_EQ(io.of(its), success(4));
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), round + 1);
  }
}

// Contract 23
TYPED_TEST(io_skip_mode_stream, a_request_that_was_cancelled_is_called_back) {
  TypeParam channel;
  if (!SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS)) {
    SKIP_UNDER_WINE("skip on success works for pipes only");
    FAIL() << GetLastError();
  }
  recorded_io io{channel.reader()};
  request its{4};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  EXPECT_TRUE(CancelIoEx(channel.reader(), &its));
  EXPECT_EQ(io.of(its), (outcome{ERROR_OPERATION_ABORTED, 0}));
}

// Contract 23
TYPED_TEST(io_skip_mode_stream, the_event_of_a_request_is_set_also_when_it_succeeds_at_once) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("skip on success works for pipes only");
  }
  TypeParam channel;
  ASSERT_TRUE(SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  recorded_io io{channel.reader()};
  channel.provide("word");
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  ASSERT_EQ(read_or_take_back(io, channel.reader(), its), code(NO_ERROR));
  EXPECT_TRUE(take(complete));
}

class io_skip_mode_setting : public io_test {};

TEST_F(io_skip_mode_setting, is_refused_for_what_is_no_handle) {
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE,
                    SetFileCompletionNotificationModes(nullptr, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
}

TEST_F(io_skip_mode_setting, can_come_after_the_object) {
  io_pipe channel;
  recorded_io io{channel.reader()};
  channel.provide("wordword");
  request first{4};
  EXPECT_EQ(io.read(channel.reader(), first), success(4));
  ASSERT_TRUE(SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  request second{4};
  EXPECT_EQ(read_or_take_back(io, channel.reader(), second), code(NO_ERROR));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

TEST_F(io_skip_mode_setting, can_not_be_taken_back) {
  io_pipe channel;
  ASSERT_TRUE(SetFileCompletionNotificationModes(channel.reader(), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  EXPECT_TRUE(SetFileCompletionNotificationModes(channel.reader(), 0));
  recorded_io io{channel.reader()};
  channel.provide("word");
  request its{4};
  EXPECT_EQ(read_or_take_back(io, channel.reader(), its), code(NO_ERROR));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 0u);
}

}  // namespace
