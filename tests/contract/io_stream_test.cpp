// Pipes and sockets: their ends, and transfers larger than what the system keeps for a reader.
#include <algorithm>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

std::string pattern(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i != length; ++i) {
    text[i] = static_cast<char>(i % 251);
  }
  return text;
}

template <class Kind>
class io_of_stream : public io_test {
 protected:
  /// How reading ends when the other end was closed.
  static constexpr outcome end_of_stream =
      std::is_same_v<Kind, io_pipe> ? outcome{ERROR_BROKEN_PIPE, 0} : outcome{NO_ERROR, 0};
};
TYPED_TEST_SUITE(io_of_stream, io_stream_kinds);

// Contract 28
TYPED_TEST(io_of_stream, the_offset_of_a_request_means_nothing) {
  TypeParam channel;
  channel.provide("wordword");
  recorded_io io{channel.reader()};
  request first{4, 1'000'000};
  request second{4, 6'000'000'000};
  EXPECT_EQ(io.read(channel.reader(), first), success(4));
  EXPECT_EQ(io.read(channel.reader(), second), success(4));
}

// Contract 28
TYPED_TEST(io_of_stream, a_read_ends_when_the_other_end_is_closed) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  channel.provide("word");
  channel.close_writer();
  request its{4};
  EXPECT_EQ(io.read(channel.reader(), its), success(4)) << "what was written before is still read";
  for (int i = 0; i != 3; ++i) {
    request end{4};
    EXPECT_EQ(io.read(channel.reader(), end), this->end_of_stream);
  }
}

// Contract 28
TYPED_TEST(io_of_stream, a_read_that_waits_ends_when_the_other_end_is_closed) {
  for (int round = 0; round != 20; ++round) {
    TypeParam channel;
    recorded_io io{channel.reader()};
    request first{4};
    request second{4};
    ASSERT_EQ(io.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
    ASSERT_EQ(io.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
    channel.close_writer();
    EXPECT_EQ(io.of(first), this->end_of_stream);
    EXPECT_EQ(io.of(second), this->end_of_stream);
    io.wait_for_callbacks();
    EXPECT_EQ(io.count(), 2u);
  }
}

// Contract 28
TYPED_TEST(io_of_stream, a_large_write_is_complete_once_and_only_when_all_of_it_was_taken) {
  const std::string all = pattern(1 << 20);
  TypeParam channel;
  recorded_io writes{channel.writer()};
  request out{all};
  ASSERT_TRUE(under_way(writes.start_write(channel.writer(), out)));
  std::string taken;
  // In pieces of any size.
  for (std::size_t piece = 1; taken.size() != all.size(); piece = piece * 3 % 70'001) {
    taken += channel.taken(std::min(piece, all.size() - taken.size()));
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_TRUE(taken == all);
  EXPECT_EQ(writes.of(out), success(all.size()));
  writes.wait_for_callbacks();
  EXPECT_EQ(writes.count(), 1u);
}

// Contract 28
TYPED_TEST(io_of_stream, several_large_writes_follow_one_another) {
  const std::string one(300'000, '1');
  const std::string two(300'000, '2');
  const std::string three(10, '3');
  TypeParam channel;
  recorded_io writes{channel.writer()};
  request first{one};
  request second{two};
  request third{three};
  for (request* each : {&first, &second, &third}) {
    ASSERT_TRUE(under_way(writes.start_write(channel.writer(), *each)));
  }
  EXPECT_TRUE(channel.taken(600'010) == one + two + three);
  writes.wait_for_callbacks();
  EXPECT_EQ(writes.of(first), success(300'000));
  EXPECT_EQ(writes.of(second), success(300'000));
  EXPECT_EQ(writes.of(third), success(10));
}

// Contract 28
TYPED_TEST(io_of_stream, what_two_ends_read_and_write_at_once_all_arrives) {
  constexpr unsigned rounds = 10 * repetitions;
  TypeParam channel;
  tally wrote;
  tally read;
  std::string received;
  request out{std::string_view{"0123456789"}};
  request in{64};
  io* writing = nullptr;
  io* reading = nullptr;
  io writes{channel.writer(), [&](OVERLAPPED*, DWORD error, ULONG_PTR bytes) {
              EXPECT_EQ(outcome({error, bytes}), success(10));
              wrote.add();
              if (wrote.count() != rounds) {
                EXPECT_TRUE(under_way(writing->start_write(channel.writer(), out)));
              }
            }};
  io reads{channel.reader(), [&](OVERLAPPED*, DWORD error, ULONG_PTR bytes) {
             EXPECT_EQ(error, code(NO_ERROR));
             received += in.text(bytes);
             if (received.size() < 10 * rounds) {
               EXPECT_TRUE(under_way(reading->start_read(channel.reader(), in)));
             }
             read.add(static_cast<unsigned>(bytes));
           }};
  writing = &writes;
  reading = &reads;
  ASSERT_TRUE(under_way(reads.start_read(channel.reader(), in)));
  ASSERT_TRUE(under_way(writes.start_write(channel.writer(), out)));
  EXPECT_TRUE(wrote.reaches(rounds));
  EXPECT_TRUE(read.reaches(10 * rounds));
  writes.wait_for_callbacks();
  reads.wait_for_callbacks();
  std::string expected;
  for (unsigned i = 0; i != rounds; ++i) {
    expected += "0123456789";
  }
  EXPECT_TRUE(received == expected);
}

class io_of_pipe : public io_test {};

// Contract 28
TEST_F(io_of_pipe, a_write_to_a_pipe_that_nobody_reads_fails) {
  io_pipe channel;
  recorded_io io{channel.writer()};
  channel.close_reader();
  request its{"word"};
  const outcome how = io.write(channel.writer(), its);
  EXPECT_TRUE(how.error == ERROR_NO_DATA || how.error == ERROR_BROKEN_PIPE) << how;
  EXPECT_EQ(how.bytes, 0u);
}

// Contract 28
TEST_F(io_of_pipe, a_write_that_waits_ends_when_the_reader_goes) {
  io_pipe channel;
  recorded_io io{channel.writer()};
  request its{pattern(1 << 20)};
  ASSERT_EQ(io.start_write(channel.writer(), its), code(ERROR_IO_PENDING));
  channel.close_reader();
  const outcome how = io.of(its);
  EXPECT_TRUE(how.error == ERROR_NO_DATA || how.error == ERROR_BROKEN_PIPE) << how;
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

class io_of_socket : public io_test {};

// Contract 28
TEST_F(io_of_socket, a_read_that_waits_fails_when_the_connection_is_reset) {
  io_socket channel;
  recorded_io io{channel.reader()};
  request its{4};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  channel.reset();
  EXPECT_EQ(io.of(its), (outcome{ERROR_NETNAME_DELETED, 0}));
}

// Contract 28
TEST_F(io_of_socket, a_write_fails_after_a_reset) {
  io_socket channel;
  recorded_io io{channel.reader()};
  channel.reset();
  // It may be on its way.
  EXPECT_TRUE(eventually([&] {
    request its{"word"};
    return io.write(channel.reader(), its).error != NO_ERROR;
  }));
}

}  // namespace
