// CancelIoEx asks for the end of requests; their completion comes all the same, once.
#include <atomic>
#include <deque>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

constexpr outcome aborted{ERROR_OPERATION_ABORTED, 0};

template <class Kind>
class io_cancel : public io_test {};
TYPED_TEST_SUITE(io_cancel, io_stream_kinds);

// Contract 25
TYPED_TEST(io_cancel, a_read_that_waits_completes_as_aborted) {
  TypeParam channel;
  request its{4};
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  EXPECT_TRUE(CancelIoEx(channel.reader(), &its));
  EXPECT_EQ(io.of(its), aborted);
  EXPECT_TRUE(is_complete(its));
  EXPECT_EQ(result_of(channel.reader(), its).error, code(ERROR_OPERATION_ABORTED));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
}

// Contract 25
TYPED_TEST(io_cancel, a_write_that_waits_for_room_completes_as_aborted) {
  TypeParam channel;
  request its{std::string(16 << 20, 'x')};  // more than any system keeps for a reader
  recorded_io io{channel.writer()};
  ASSERT_EQ(io.start_write(channel.writer(), its), code(ERROR_IO_PENDING));
  EXPECT_FALSE(is_complete(its));
  EXPECT_TRUE(CancelIoEx(channel.writer(), &its));
  EXPECT_EQ(io.of(its).error, code(ERROR_OPERATION_ABORTED));
}

// Contract 25
TYPED_TEST(io_cancel, one_of_several_is_cancelled_and_the_others_stay) {
  TypeParam channel;
  request first{4};
  request second{4};
  request third{4};
  recorded_io io{channel.reader()};
  for (request* each : {&first, &second, &third}) {
    ASSERT_EQ(io.start_read(channel.reader(), *each), code(ERROR_IO_PENDING));
  }
  EXPECT_TRUE(CancelIoEx(channel.reader(), &second));
  EXPECT_EQ(io.of(second), aborted);
  EXPECT_EQ(io.count(), 1u);
  channel.provide("onetwo");
  EXPECT_EQ(io.of(first), success(4));
  EXPECT_EQ(io.of(third), success(2));
  EXPECT_EQ(first.text(4) + third.text(2), "onetwo");
}

// Contract 25
TYPED_TEST(io_cancel, without_a_request_all_of_the_handle_are_cancelled) {
  TypeParam channel;
  TypeParam other;
  std::deque<request> some;
  recorded_io io{channel.reader()};
  recorded_io elsewhere{other.reader()};
  request unaffected{4};
  ASSERT_EQ(elsewhere.start_read(other.reader(), unaffected), code(ERROR_IO_PENDING));
  for (int i = 0; i != 10; ++i) {
    some.emplace_back(std::size_t{4});
    ASSERT_EQ(io.start_read(channel.reader(), some.back()), code(ERROR_IO_PENDING));
  }
  EXPECT_TRUE(CancelIoEx(channel.reader(), nullptr));
  for (const request& each : some) {
    EXPECT_EQ(io.of(each), aborted);
  }
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 10u);
  EXPECT_EQ(elsewhere.count(), 0u);
  other.provide("word");
  EXPECT_EQ(elsewhere.of(unaffected), success(4));
}

// Contract 25
TYPED_TEST(io_cancel, a_request_that_is_not_under_way_is_not_found) {
  TypeParam channel;
  request finished{4};
  request never{4};
  request waiting{4};
  recorded_io io{channel.reader()};
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.reader(), &never));
  channel.provide("word");
  ASSERT_EQ(io.read(channel.reader(), finished), success(4));
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.reader(), &finished));
  ASSERT_EQ(io.start_read(channel.reader(), waiting), code(ERROR_IO_PENDING));
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.reader(), &never));
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.writer(), &waiting));
  EXPECT_FALSE(is_complete(waiting));
  EXPECT_TRUE(CancelIoEx(channel.reader(), &waiting));
  EXPECT_EQ(io.of(waiting), aborted);
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.reader(), &waiting));
}

// Contract 25
TYPED_TEST(io_cancel, with_nothing_under_way_there_is_nothing_to_be_found) {
  SKIP_UNDER_WINE("cancelling all of a handle that has nothing pending succeeds");
  TypeParam channel;
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.reader(), nullptr));
  request its{4};
  recorded_io io{channel.reader()};
  channel.provide("word");
  ASSERT_EQ(io.read(channel.reader(), its), success(4));
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(channel.reader(), nullptr));
}

// Contract 25, 38
TYPED_TEST(io_cancel, an_invalid_handle_is_refused) {
  request its{4};
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, CancelIoEx(nullptr, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, CancelIoEx(nullptr, &its));
}

// Contract 25
TYPED_TEST(io_cancel, the_handle_can_be_used_again_and_loses_nothing) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  for (int round = 0; round != 20; ++round) {
    request stopped{4};
    ASSERT_EQ(io.start_read(channel.reader(), stopped), code(ERROR_IO_PENDING));
    ASSERT_TRUE(CancelIoEx(channel.reader(), &stopped));
    ASSERT_EQ(io.of(stopped), aborted);
    channel.provide("word");
    request next{4};
    ASSERT_EQ(io.read(channel.reader(), next), success(4));
    ASSERT_EQ(next.text(4), "word");
  }
}

// Contract 25
TYPED_TEST(io_cancel, a_callback_can_cancel_the_requests_of_its_object) {
  TypeParam channel;
  request first{4};
  request second{4};
  tally ran;
  io both{channel.reader(), [&](OVERLAPPED* overlapped, DWORD error, ULONG_PTR) {
            if (overlapped == &first) {
              EXPECT_EQ(error, code(NO_ERROR));
              EXPECT_TRUE(CancelIoEx(channel.reader(), &second));
            } else {
              EXPECT_EQ(error, code(ERROR_OPERATION_ABORTED));
            }
            ran.add();
          }};
  ASSERT_EQ(both.start_read(channel.reader(), first), code(ERROR_IO_PENDING));
  ASSERT_EQ(both.start_read(channel.reader(), second), code(ERROR_IO_PENDING));
  channel.provide("word");
  EXPECT_TRUE(ran.reaches(2));
}

// Contract 25
TYPED_TEST(io_cancel, another_thread_can_cancel_what_this_one_started) {
  TypeParam channel;
  request its{4};
  recorded_io io{channel.reader()};
  ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
  std::thread{[&] { EXPECT_TRUE(CancelIoEx(channel.reader(), &its)); }}.join();
  EXPECT_EQ(io.of(its), aborted);
}

// Contract 25
TYPED_TEST(io_cancel, one_that_meets_the_completion_leaves_one_callback_and_loses_nothing) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  unsigned expected = 0;
  for (int round = 0; round != repetitions; ++round) {
    request its{4};
    ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
    together(2, [&](unsigned i) {
      if (i == 0) {
        channel.provide("word");
      } else if (!CancelIoEx(channel.reader(), round % 2 == 0 ? &its : nullptr)) {
        EXPECT_EQ(GetLastError(), code(ERROR_NOT_FOUND));
      }
    });
    const outcome how = io.of(its);
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), ++expected);
    if (how == aborted) {
      request left{4};
      ASSERT_EQ(io.read(channel.reader(), left), success(4)) << "what came was lost with the cancelled request";
      ASSERT_EQ(left.text(4), "word");
      ++expected;
    } else {
      ASSERT_EQ(how, success(4));
      ASSERT_EQ(its.text(4), "word");
    }
  }
}

// Contract 25
TYPED_TEST(io_cancel, several_that_meet_each_other_leave_one_callback_for_each_request) {
  TypeParam channel;
  recorded_io io{channel.reader()};
  unsigned expected = 0;
  for (int round = 0; round != repetitions / 4; ++round) {
    std::deque<request> some;
    for (int i = 0; i != 4; ++i) {
      some.emplace_back(std::size_t{4});
      ASSERT_EQ(io.start_read(channel.reader(), some.back()), code(ERROR_IO_PENDING));
    }
    std::atomic<int> cancelled{0};
    together(3, [&](unsigned i) {
      if (i == 2) {
        CancelIoEx(channel.reader(), nullptr);
        return;
      }
      for (request& each : some) {
        if (CancelIoEx(channel.reader(), &each)) {
          ++cancelled;
        }
      }
    });
    expected += 4;
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), expected);
    for (const request& each : some) {
      ASSERT_EQ(io.of(each), aborted);
    }
  }
}

// ---- files, which may be too far to be stopped -------------------------------------------------------

class io_cancel_file : public io_test {};

// Contract 25
TEST_F(io_cancel_file, a_cancelled_request_completes_once_either_way) {
  constexpr std::size_t length = 100'000;
  const std::string content(length, 'x');
  const io_file file{content};
  recorded_io io{file.reader()};
  for (unsigned round = 0; round != repetitions; ++round) {
    request its{length};
    ASSERT_TRUE(under_way(io.start_read(file.reader(), its)));
    if (!CancelIoEx(file.reader(), round % 2 == 0 ? &its : nullptr)) {
      ASSERT_EQ(GetLastError(), code(ERROR_NOT_FOUND));
    }
    const outcome how = io.of(its);
    ASSERT_TRUE(how == success(length) || how.error == ERROR_OPERATION_ABORTED) << how;
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), round + 1);
  }
}

// Contract 25
TEST_F(io_cancel_file, what_is_complete_is_not_found) {
  const io_file file{"content"};
  recorded_io io{file.reader()};
  request its{7};
  ASSERT_EQ(io.read(file.reader(), its), success(7));
  EXPECT_FAILS_WITH(ERROR_NOT_FOUND, CancelIoEx(file.reader(), &its));
}

}  // namespace
