// Many I/O objects, requests and threads at once: whatever meets, each request is called back once.
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <random>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

template <class Kind>
class io_races : public io_test {};
TYPED_TEST_SUITE(io_races, io_kinds);

// Contract 23
TYPED_TEST(io_races, several_threads_that_start_requests_on_one_object_get_a_callback_for_each) {
  if (std::is_same_v<TypeParam, io_socket>) {
    SKIP_UNDER_WINE("of requests that several threads start on one socket some end with ERROR_ALERTED");
  }
  constexpr unsigned threads = 4;
  constexpr unsigned each = repetitions;
  TypeParam channel;
  channel.provide(std::string(threads * each, 'x'));
  std::array<std::deque<request>, threads> requests;
  recorded_io io{channel.reader()};
  together(threads, [&](unsigned i) {
    for (unsigned round = 0; round != each; ++round) {
      request& its = requests[i].emplace_back(std::size_t{1}, i * each + round);
      ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
    }
  });
  io.wait_for_callbacks();
  ASSERT_EQ(io.count(), threads * each);
  for (const std::deque<request>& some : requests) {
    for (const request& its : some) {
      ASSERT_EQ(io.of(its), success(1));
      ASSERT_EQ(its.text(1), "x");
    }
  }
}

// Contract 23
TYPED_TEST(io_races, objects_of_their_own_do_not_disturb_each_other) {
  const pool two{2};
  environment where{two};
  together(4, [&](unsigned) {
    for (int round = 0; round != repetitions / 4; ++round) {
      TypeParam channel;
      channel.provide("wordword");
      request first{4};
      request second{4, 4};
      recorded_io io{channel.reader(), where};
      ASSERT_TRUE(under_way(io.start_read(channel.reader(), first)));
      ASSERT_TRUE(under_way(io.start_read(channel.reader(), second)));
      io.wait_for_callbacks();
      ASSERT_EQ(io.count(), 2u);
      ASSERT_EQ(first.text(4) + second.text(4), "wordword");
    }
  });
}

// Contract 24, 27
TYPED_TEST(io_races, a_drop_that_meets_the_completion_leaves_at_most_one_callback_and_none_afterwards) {
  for (int round = 0; round != repetitions; ++round) {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    recorded_io io{channel.reader()};
    ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
    for (int i = 0; i != round % 16; ++i) {
      std::this_thread::yield();
    }
    io.cancel();
    const unsigned before = io.count();
    ASSERT_LE(before, 1u);
    ASSERT_EQ(result_of(channel.reader(), its, TRUE), success(4)) << "its memory is in use until then";
    let_completions_arrive();
    ASSERT_EQ(io.count(), before) << "a callback came after the drop";
  }
}

// Contract 27
TYPED_TEST(io_races, a_close_that_meets_the_completion_takes_no_callback_away) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != repetitions; ++round) {
    TypeParam channel;
    channel.provide("word");
    request its{4};
    recorded_io io{channel.reader(), where};
    ASSERT_TRUE(under_way(io.start_read(channel.reader(), its)));
    for (int i = 0; i != round % 16; ++i) {
      std::this_thread::yield();
    }
    io.close();
    ASSERT_EQ(io.of(its), success(4));
    occupier both{where, 2};  // the callback has returned
    ASSERT_TRUE(both.held());
  }
}

// ---- pipes and sockets: requests that wait -----------------------------------------------------------

template <class Kind>
class io_races_pending : public io_test {};
TYPED_TEST_SUITE(io_races_pending, io_stream_kinds);

// Contract 25
TYPED_TEST(io_races_pending, a_close_of_the_handle_that_meets_data_completes_every_request_once) {
  for (int round = 0; round != repetitions; ++round) {
    TypeParam channel;
    std::array<request, 3> some{request{4}, request{4}, request{4}};
    recorded_io io{channel.reader()};
    for (request& each : some) {
      ASSERT_EQ(io.start_read(channel.reader(), each), code(ERROR_IO_PENDING));
    }
    together(2, [&](unsigned i) {
      if (i == 0) {
        request text{"wordword"};  // may fail: nobody may be there to read it
        text.hEvent = CreateEventA(nullptr, TRUE, FALSE, nullptr);
        if (under_way(issue_write(channel.writer(), text))) {
          static_cast<void>(result_of(channel.writer(), text, TRUE));
        }
        EXPECT_TRUE(CloseHandle(text.hEvent));
      } else {
        channel.close_reader();
      }
    });
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), 3u);
    for (request& each : some) {
      const outcome how = io.of(each);
      ASSERT_TRUE(how == success(4) || how.error != NO_ERROR) << how;
    }
  }
}

// Contract 25, 28
TYPED_TEST(io_races_pending, a_cancellation_that_meets_the_end_of_the_other_end_completes_the_request_once) {
  for (int round = 0; round != repetitions; ++round) {
    TypeParam channel;
    request its{4};
    recorded_io io{channel.reader()};
    ASSERT_EQ(io.start_read(channel.reader(), its), code(ERROR_IO_PENDING));
    together(2, [&](unsigned i) {
      if (i == 0) {
        channel.close_writer();
      } else {
        CancelIoEx(channel.reader(), &its);
      }
    });
    io.wait_for_callbacks();
    ASSERT_EQ(io.count(), 1u);
    const DWORD error = io.of(its).error;
    ASSERT_TRUE(error == ERROR_OPERATION_ABORTED ||
                error == (std::is_same_v<TypeParam, io_pipe> ? code(ERROR_BROKEN_PIPE) : code(NO_ERROR)))
        << error;
  }
}

// Contract 23 to 25. Nothing is lost, doubled or mixed up while everything is done at once.
TYPED_TEST(io_races_pending, whatever_several_threads_do_every_byte_arrives_in_some_request) {
  constexpr unsigned bytes = 20 * repetitions;
  TypeParam channel;
  std::atomic<unsigned> received{0};
  std::atomic<unsigned> started{0};
  std::atomic<unsigned> called{0};
  io object{channel.reader(), [&](OVERLAPPED* overlapped, DWORD error, ULONG_PTR count) {
              const std::unique_ptr<request> its{static_cast<request*>(overlapped)};
              ++called;
              if (error == NO_ERROR) {
                EXPECT_EQ(its->text(count), std::string(static_cast<std::size_t>(count), 'x'));
                received += static_cast<unsigned>(count);
              } else {
                EXPECT_EQ(error, code(ERROR_OPERATION_ABORTED));
              }
            }};
  std::thread writer{[&] {
    for (unsigned sent = 0; sent != bytes; sent += 20) {
      channel.provide(std::string(20, 'x'));
    }
  }};
  std::vector<std::thread> readers;
  for (unsigned i = 0; i != 3; ++i) {
    readers.emplace_back([&, i] {
      std::minstd_rand random{i + 1};
      while (received != bytes) {
        if (started - called < 20) {
          auto its = std::make_unique<request>(std::size_t{1 + random() % 30});
          ++started;
          if (under_way(object.start_read(channel.reader(), *its))) {
            static_cast<void>(its.release());
          } else {
            ADD_FAILURE() << GetLastError();
            return;
          }
        }
        if (random() % 8 == 0) {
          CancelIoEx(channel.reader(), nullptr);
        }
        std::this_thread::yield();
      }
    });
  }
  writer.join();
  for (std::thread& reader : readers) {
    reader.join();
  }
  CancelIoEx(channel.reader(), nullptr);
  object.wait_for_callbacks();
  EXPECT_EQ(received, bytes);
  EXPECT_EQ(called, started);
}

}  // namespace
