// What requests outlive: the thread that started them, their object, their handle, their pool.
#include <atomic>
#include <deque>
#include <memory>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

template <class Kind>
class io_lifetime : public io_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};
TYPED_TEST_SUITE(io_lifetime, io_kinds);

// Contract 26
TYPED_TEST(io_lifetime, a_request_goes_on_when_the_thread_that_started_it_has_ended) {
  TypeParam channel;
  if (!TypeParam::is_stream) {
    channel.provide("wordword");
  }
  request first{4};
  request second{4, 4};
  recorded_io io{channel.reader()};
  std::thread{[&] {
    EXPECT_TRUE(under_way(io.start_read(channel.reader(), first)));
    EXPECT_TRUE(under_way(io.start_read(channel.reader(), second)));
  }}.join();
  if (TypeParam::is_stream) {
    channel.provide("wordword");
  }
  EXPECT_EQ(io.of(first), success(4));
  EXPECT_EQ(io.of(second), success(4));
  EXPECT_EQ(first.text(4) + second.text(4), "wordword");
}

// Contract 27
TYPED_TEST(io_lifetime, an_object_can_close_itself_in_its_callback) {
  for (int round = 0; round != 20; ++round) {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    tally ran;
    io* self = nullptr;
    io closing{channel.reader(),
               [&] {
                 self->close();
                 ran.add();
               },
               this->where_};
    self = &closing;
    ASSERT_TRUE(under_way(closing.start_read(channel.reader(), its)));
    EXPECT_TRUE(ran.reaches(1));
    drain_pool_of_one(this->where_);
    EXPECT_EQ(ran.count(), 1u);
  }
}

// Contract 27
TYPED_TEST(io_lifetime, a_close_does_not_wait_for_a_callback_that_runs) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  gate started;
  gate closed;
  std::atomic<bool> finished{false};
  io held{channel.reader(),
          [&] {
            started.open();
            EXPECT_TRUE(closed.pass());
            finished = true;
          },
          this->where_};
  ASSERT_TRUE(under_way(held.start_read(channel.reader(), its)));
  ASSERT_TRUE(started.pass());
  held.close();
  EXPECT_FALSE(finished);
  closed.open();
  drain_pool_of_one(this->where_);
  EXPECT_TRUE(finished);
}

// Contract 27
TYPED_TEST(io_lifetime, a_callback_whose_object_was_closed_before_it_could_start_comes_all_the_same) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  recorded_io io{channel.reader(), this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
  io.close();
  EXPECT_EQ(io.count(), 0u);
  busy.release();
  EXPECT_EQ(io.of(its), success(4));
  drain_pool_of_one(this->where_);
  EXPECT_EQ(io.count(), 1u);
}

// Contract 27
TYPED_TEST(io_lifetime, an_object_can_be_closed_with_a_start_that_is_then_taken_back) {
  for (int round = 0; round != 20; ++round) {
    TypeParam channel;
    recorded_io io{channel.reader()};
    const PTP_IO object = io.get();
    io.start();
    io.close();
    CancelThreadpoolIo(object);
    EXPECT_EQ(io.count(), 0u);
  }
}

// Contract 27
TYPED_TEST(io_lifetime, a_start_before_the_close_is_balanced_by_a_request_after_it) {
  // A callback may close the object while another thread is between the two.
  TypeParam channel;
  channel.provide("word");
  request its{4};
  recorded_io io{channel.reader(), this->where_};
  io.start();
  io.close();
  ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
  EXPECT_EQ(io.of(its), success(4));
  drain_pool_of_one(this->where_);  // the callback has returned too
}

// Contract 27
TYPED_TEST(io_lifetime, idle_objects_can_be_made_and_closed_in_any_number) {
  for (int round = 0; round != 50; ++round) {
    TypeParam channel;
    const recorded_io io{channel.reader(), this->where_};
  }
}

// Contract 6
TYPED_TEST(io_lifetime, an_object_keeps_a_pool_that_was_closed_alive) {
  SKIP_UNDER_WINE("ntdll aborts when a callback is queued after its pool was closed");
  pool mine{1};
  environment where{mine};
  TypeParam channel;
  channel.provide("wordword");
  request first{4};
  request second{4, 4};
  recorded_io io{channel.reader(), where};
  EXPECT_EQ(io.read(channel.reader(), first), success(4));
  mine.close();
  EXPECT_EQ(io.read(channel.reader(), second), success(4));
}

// Contract 6
TYPED_TEST(io_lifetime, an_object_can_be_closed_after_its_pool) {
  for (int round = 0; round != 20; ++round) {
    pool mine{1};
    environment where{mine};
    TypeParam channel;
    channel.provide("word");
    request its{4};
    recorded_io io{channel.reader(), where};
    EXPECT_EQ(io.read(channel.reader(), its), success(4));
    io.wait_for_callbacks();
    mine.close();
    io.close();
    EXPECT_EQ(io.count(), 1u);
  }
}

// Contract 1
TYPED_TEST(io_lifetime, objects_can_be_made_used_and_closed_in_a_callback) {
  work outer{[&] {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    recorded_io io{channel.reader()};
    EXPECT_EQ(io.read(channel.reader(), its), success(4));
  }};
  outer.submit();
  outer.wait();
}

// ---- pipes and sockets: requests that wait -----------------------------------------------------------

template <class Kind>
class io_lifetime_pending : public io_lifetime<Kind> {
 protected:
  /// Closing a handle ends its requests. NT's pipes say in their own way why.
  static bool says_closed(outcome how) {
#ifdef _WIN32
    if (std::is_same_v<Kind, io_pipe> && how.error == ERROR_BROKEN_PIPE) {
      return true;
    }
#endif
    return how == outcome{ERROR_OPERATION_ABORTED, 0};
  }
};
TYPED_TEST_SUITE(io_lifetime_pending, io_stream_kinds);

// Contract 27
TYPED_TEST(io_lifetime_pending, an_object_closed_with_requests_under_way_lives_until_their_callbacks) {
  for (int round = 0; round != 10; ++round) {
    TypeParam channel;
    request first{4};
    request second{4};
    recorded_io io{channel.reader(), this->where_};
    ASSERT_EQ(io.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
    ASSERT_EQ(io.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
    io.close();
    EXPECT_FALSE(is_complete(first));
    channel.provide("word");
    EXPECT_EQ(io.of(first), success(4));
    channel.provide("word");
    EXPECT_EQ(io.of(second), success(4));
    drain_pool_of_one(this->where_);
    EXPECT_EQ(io.count(), 2u);
  }
}

// Contract 27
TYPED_TEST(io_lifetime_pending, an_object_that_closes_itself_is_called_back_for_the_rest) {
  TypeParam channel;
  request first{4};
  request second{4};
  tally ran;
  io* self = nullptr;
  io closing{channel.reader(),
             [&](OVERLAPPED* overlapped, DWORD error, ULONG_PTR bytes) {
               EXPECT_EQ(outcome({error, bytes}), success(4));
               if (overlapped == &first) {
                 self->close();
               }
               ran.add();
             },
             this->where_};
  self = &closing;
  ASSERT_EQ(closing.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
  ASSERT_EQ(closing.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
  channel.provide("word");
  EXPECT_TRUE(ran.reaches(1));
  channel.provide("word");
  EXPECT_TRUE(ran.reaches(2));
  drain_pool_of_one(this->where_);
}

// Contract 27, 24
TYPED_TEST(io_lifetime_pending, an_object_closed_after_a_drop_is_not_called_back) {
  TypeParam channel;
  const handle complete = manual_event();
  request its{4};
  its.hEvent = complete;
  recorded_io io{channel.reader(), this->where_};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  io.cancel();
  io.close();
  channel.provide("word");
  EXPECT_EQ(WaitForSingleObject(complete, patience_in_milliseconds), WAIT_OBJECT_0);
  EXPECT_EQ(its.text(4), "word");
  drain_pool_of_one(this->where_);
  let_another_pool_work();
  EXPECT_EQ(io.count(), 0u);
}

// Contract 25
TYPED_TEST(io_lifetime_pending, closing_the_handle_ends_its_requests) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("what a closed socket leaves ends with ERROR_HANDLES_CLOSED");
  }
  for (int round = 0; round != 10; ++round) {
    TypeParam channel;
    request first{4};
    request second{4};
    recorded_io io{channel.reader()};
    ASSERT_EQ(io.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
    ASSERT_EQ(io.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
    channel.close_reader();
    EXPECT_TRUE(this->says_closed(io.of(first))) << io.of(first);
    EXPECT_TRUE(this->says_closed(io.of(second))) << io.of(second);
    io.wait_for_callbacks();
    EXPECT_EQ(io.count(), 2u);
  }
}

// Contract 25
TYPED_TEST(io_lifetime_pending, closing_the_handle_ends_a_write_that_waits_for_room) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("a write that waits when its socket is closed is never complete");
  }
  TypeParam channel;
  request its{std::string(16 << 20, 'x')};
  recorded_io io{channel.writer()};
  ASSERT_EQ(io.start_write(channel.writer(), its), code(ERROR_IO_PENDING));
  channel.close_writer();
  EXPECT_NE(io.of(its).error, code(NO_ERROR));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

// Contract 25, 27
TYPED_TEST(io_lifetime_pending, the_object_and_the_handle_can_be_closed_in_either_order) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("what a closed socket leaves ends with ERROR_HANDLES_CLOSED");
  }
  for (const bool handle_first : {false, true}) {
    TypeParam channel;
    request its{4};
    recorded_io io{channel.reader(), this->where_};
    ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
    if (handle_first) {
      channel.close_reader();
      io.close();
    } else {
      io.close();
      channel.close_reader();
    }
    EXPECT_TRUE(this->says_closed(io.of(its))) << io.of(its);
    drain_pool_of_one(this->where_);
    EXPECT_EQ(io.count(), 1u);
  }
}

// Contract 25
TYPED_TEST(io_lifetime_pending, the_end_of_the_peer_is_seen_after_the_handle_was_closed_under_a_request) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("what a closed socket leaves ends with ERROR_HANDLES_CLOSED");
  }
  // The request must not keep what it was made on open.
  TypeParam channel;
  request its{4};
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  channel.close_reader();
  EXPECT_TRUE(this->says_closed(io.of(its))) << io.of(its);
  io.wait_for_callbacks();
  recorded_io other{channel.writer()};
  EXPECT_TRUE(eventually([&] {
    request late{"late"};
    return other.write(channel.writer(), late).error != NO_ERROR;
  }));
}

}  // namespace
