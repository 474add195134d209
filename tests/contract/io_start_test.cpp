// Every start is balanced: by the callback, or by CancelThreadpoolIo where none will come.
#include <deque>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

template <class Kind>
class io_start : public io_test {};
TYPED_TEST_SUITE(io_start, io_kinds);

// Contract 23
TYPED_TEST(io_start, a_request_that_succeeds_is_called_back_once_whether_or_not_it_did_so_at_once) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  for (unsigned round = 0; round != 20; ++round) {
    channel.provide("word");
    request its{4, 4 * round};
    ASSERT_EQ(io.read(channel.reader(), its), success(4));
    io.wait_for_callbacks();
    ASSERT_EQ(io.count_of(its), 1u);
    ASSERT_EQ(its.text(4), "word");
  }
  EXPECT_EQ(io.count(), 20u);
}

// Contract 23
TYPED_TEST(io_start, a_request_that_was_refused_has_no_callback_and_its_start_can_be_taken_back) {
  // Which way round a handle does not work depends on what it is.
  TypeParam channel;
  io_file readable{"content", GENERIC_READ};
  const HANDLE refusing = TypeParam::is_stream ? channel.reader() : readable.writer();
  if (std::is_same_v<TypeParam, io_socket>) {
    GTEST_SKIP() << "a socket works both ways";
  }
  recorded_io io{refusing};
  request its{"text"};
  EXPECT_EQ(io.start_write(refusing, its), code(ERROR_ACCESS_DENIED));
  io.wait_for_callbacks();  // would not return if the start were still there
  io.cancel();
  EXPECT_EQ(io.count(), 0u);
}

// Contract 23
TYPED_TEST(io_start, a_start_without_any_request_can_be_taken_back) {
  TypeParam channel;
  channel.provide("word");
  recorded_io io{channel.reader()};
  for (int i = 0; i != 3; ++i) {
    io.start();
  }
  for (int i = 0; i != 3; ++i) {
    io.take_back();
  }
  io.wait_for_callbacks();
  request its{4};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

// Contract 23
TYPED_TEST(io_start, a_start_taken_back_while_others_are_under_way_leaves_those) {
  TypeParam channel;
  channel.provide("abcdef");
  recorded_io io{channel.reader()};
  request first{2, 0};
  request second{2, 2};
  request third{2, 4};
  EXPECT_TRUE(under_way(io.start_read(channel.reader(), first)));
  io.start();
  EXPECT_TRUE(under_way(io.start_read(channel.reader(), second)));
  io.take_back();
  EXPECT_TRUE(under_way(io.start_read(channel.reader(), third)));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 3u);
  EXPECT_EQ(first.text(2) + second.text(2) + third.text(2), "abcdef");
}

// Contract 23
TYPED_TEST(io_start, many_requests_are_each_called_back_with_what_is_theirs) {
  constexpr std::size_t many = 100;
  TypeParam channel;
  std::string all;
  for (std::size_t i = 0; i != many; ++i) {
    all += std::to_string(100 + i);
  }
  channel.provide(all);
  recorded_io io{channel.reader()};
  std::deque<request> some;
  for (std::size_t i = 0; i != many; ++i) {
    some.emplace_back(std::size_t{3}, 3 * i);
    ASSERT_TRUE(under_way(io.start_read(channel.reader(), some.back())));
  }
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), many);
  std::string read;
  for (const request& each : some) {
    ASSERT_EQ(io.count_of(each), 1u);
    ASSERT_EQ(io.of(each), success(3));
    read += each.text(3);
  }
  EXPECT_EQ(read, all);
}

// Contract 23
TYPED_TEST(io_start, writes_are_called_back_as_reads_are) {
  TypeParam channel;
  recorded_io io{channel.writer()};
  std::deque<request> some;
  std::string all;
  for (std::size_t i = 0; i != 20; ++i) {
    const std::string text = std::to_string(100 + i);
    some.emplace_back(text, 3 * i);
    ASSERT_TRUE(under_way(io.start_write(channel.writer(), some.back())));
    all += text;
  }
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 20u);
  for (const request& each : some) {
    EXPECT_EQ(io.of(each), success(3));
  }
  EXPECT_EQ(channel.taken(all.size()), all);
}

// Contract 23
TYPED_TEST(io_start, a_callback_can_start_the_next_request_and_a_wait_covers_it) {
  constexpr unsigned rounds = 50;
  TypeParam channel;
  channel.provide(std::string(rounds, 'x'));
  tally ran;
  std::deque<request> requests;
  io* self = nullptr;
  io chained{channel.reader(), [&](OVERLAPPED*, DWORD error, ULONG_PTR bytes) {
               EXPECT_EQ(outcome({error, bytes}), success(1));
               ran.add();
               if (requests.size() != rounds) {
                 requests.emplace_back(std::size_t{1}, requests.size());
                 EXPECT_TRUE(under_way(self->start_read(channel.reader(), requests.back())));
               }
             }};
  self = &chained;
  requests.emplace_back(std::size_t{1});
  ASSERT_TRUE(under_way(chained.start_read(channel.reader(), requests.back())));
  EXPECT_TRUE(ran.reaches(rounds));
  chained.wait_for_callbacks();
  EXPECT_EQ(ran.count(), rounds);
}

// ---- pipes and sockets: requests that wait -----------------------------------------------------------

template <class Kind>
class io_start_pending : public io_test {};
TYPED_TEST_SUITE(io_start_pending, io_stream_kinds);

// Contract 23
TYPED_TEST(io_start_pending, a_read_with_nothing_to_read_is_pending_until_something_comes) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  request its{10};
  EXPECT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  let_another_pool_work();
  EXPECT_EQ(io.count(), 0u);
  channel.provide("late");
  EXPECT_EQ(io.of(its), success(4));
  EXPECT_EQ(its.text(4), "late");
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

// Contract 23
TYPED_TEST(io_start_pending, two_objects_on_the_two_ends_are_called_back_each_for_its_own) {
  TypeParam channel;
  recorded_io reads{channel.reader()};
  recorded_io writes{channel.writer()};
  request in{10};
  request out{"hello"};
  EXPECT_TRUE(under_way(reads.start_read(channel.reader(), in)));
  EXPECT_TRUE(under_way(writes.start_write(channel.writer(), out)));
  reads.wait_for_callbacks();
  writes.wait_for_callbacks();
  EXPECT_EQ(reads.order(), (std::vector<OVERLAPPED*>{&in}));
  EXPECT_EQ(writes.order(), (std::vector<OVERLAPPED*>{&out}));
  EXPECT_EQ(reads.of(in), success(5));
  EXPECT_EQ(writes.of(out), success(5));
}

// Contract 23, 28
TYPED_TEST(io_start_pending, reads_of_one_handle_are_served_in_the_order_in_which_they_were_started) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  request first{3};
  request second{3};
  request third{3};
  for (request* each : {&first, &second, &third}) {
    ASSERT_EQ(io.start_read(channel.reader(), *each), code(ERROR_IO_PENDING));
  }
  channel.provide("onetwothr");
  io.wait_for_callbacks();
  EXPECT_EQ(first.text(3) + ' ' + second.text(3) + ' ' + third.text(3), "one two thr");
}

// Contract 23
TEST_F(io_test, a_socket_reads_and_writes_at_the_same_time) {
  io_socket channel;
  recorded_io both{channel.reader()};
  request in{10};
  request out{"there"};
  EXPECT_EQ(both.start_read(channel.reader(), in), code(ERROR_IO_PENDING));
  EXPECT_EQ(both.write(channel.reader(), out), success(5));
  EXPECT_EQ(both.count_of(in), 0u);
  channel.provide("back");
  EXPECT_EQ(both.of(in), success(4));
}

}  // namespace
