// Overlapped I/O: cancellations that meet completions, handlers that start requests, ends in the middle of it.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "stress.hpp"

namespace stress {
namespace {

using tidepool::endpoint;
using tidepool::operation_id;
using tidepool::transfer;

class ios : public scenario {};

/// Counts what becomes of requests.
struct outcomes {
  std::atomic<int> completed{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> others{0};

  template <class Buffer>
  void note(const transfer<Buffer>& result) {
    if (!result.error) {
      ++completed;
    } else if (result.error == std::errc::operation_canceled) {
      ++cancelled;
    } else {
      ++others;
    }
  }
  [[nodiscard]] int all() const { return completed + cancelled + others; }
};

using one_byte = std::array<char, 1>;

TEST_F(ios, end_each_request_once_when_a_cancellation_meets_the_completion) {
  // Two million requests in all: every second one is cancelled, by name, at about the time at which it completes.
  constexpr unsigned threads = 2;
  const int number = scaled(1'000'000);
  outcomes seen;
  std::atomic<int> started{0};
  std::atomic<int> found{0};
  on_threads(threads, [&](unsigned index) {
    auto [first, second] = endpoint::make_pipe();
    io reader(std::move(first));
    io writer(std::move(second));
    std::minstd_rand random(index + 1);
    constexpr int batch = 16;
    int done = 0;
    while (done < number || (seen.cancelled == 0 || seen.completed == 0)) {
      std::array<operation_id, batch> ids;
      for (operation_id& each : ids) {
        each = reader.read(one_byte{}, [&](const transfer<one_byte>& result) { seen.note(result); });
        ++started;
      }
      writer.write(std::string(batch / 2, 'x'), [] {});
      for (int i = 0; i != batch / 2; ++i) {
        found += reader.cancel(ids[random() % batch]) ? 1 : 0;
      }
      done += batch;
      reader.cancel_all();
      reader.run_down();
      ASSERT_EQ(reader.outstanding(), 0u);
      writer.run_down();
      if (reader.cancel(ids[0])) {
        ADD_FAILURE() << "a request was found after its end";
      }
    }
  });
  EXPECT_EQ(seen.all(), started);
  EXPECT_EQ(seen.others, 0);
  EXPECT_GE(seen.completed, 1);
  EXPECT_GE(seen.cancelled, 1);
  EXPECT_GE(found, 1);
}

TEST_F(ios, pass_every_byte_through_a_chain_of_handlers) {
  const auto size = static_cast<std::size_t>(scaled(64 << 20));
  auto [first, second] = endpoint::make_socket_pair();
  std::size_t received = 0;
  std::uint64_t sum = 0;
  tally ended;
  std::function<void(tidepool::buffer)> next;
  io reader(std::move(first));
  io writer(std::move(second));
  next = [&](tidepool::buffer memory) {
    reader.receive(std::move(memory), [&](transfer<> result) {
      EXPECT_FALSE(result.error);
      if (result.bytes == 0) {
        ended.add();
        return;
      }
      for (std::size_t i = 0; i != result.bytes; ++i) {
        sum += static_cast<unsigned char>(result.buffer.data()[i]);
      }
      received += result.bytes;
      next(std::move(result.buffer));
    });
  };
  next(tidepool::buffer(64 << 10));
  std::uint64_t expected = 0;
  for (std::size_t sent = 0; sent < size;) {
    std::string text(std::min<std::size_t>(size - sent, 1 << 20), static_cast<char>('a' + sent % 26));
    expected += text.size() * static_cast<unsigned char>(text[0]);
    sent += text.size();
    writer.send(std::move(text), [](const transfer<std::string>& result) {
      EXPECT_FALSE(result.error);
      EXPECT_EQ(result.bytes, result.buffer.size());
    });
    writer.run_down();
  }
  EXPECT_FALSE(writer.shutdown_send());
  EXPECT_TRUE(ended.reaches(1));
  EXPECT_EQ(received, size);
  EXPECT_EQ(sum, expected);
}

TEST_F(ios, can_be_destroyed_while_handlers_start_requests) {
  outcomes seen;
  std::atomic<int> given{0};
  on_threads(4, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    for (rounds turn(2000); turn.go_on([&] { return seen.completed != 0 && seen.cancelled != 0; });) {
      auto [first, second] = endpoint::make_pipe();
      io writer(std::move(second));
      std::function<void()> next;
      io reader(std::move(first));
      next = [&] {
        const operation_id id = reader.read(one_byte{}, [&](const transfer<one_byte>& result) {
          seen.note(result);
          next();  // for ever, were it not for the end
        });
        given += id ? 1 : 0;
      };
      next();
      next();
      writer.write(std::string(8, 'x'), [] {});
      spin_for(random_time(random, 30));
    }
  });
  EXPECT_EQ(seen.all(), given);
  EXPECT_EQ(seen.others, 0);
}

TEST_F(ios, can_be_run_down_while_others_start_requests) {
  const int number = scaled(100'000);
  auto [first, second] = endpoint::make_pipe();
  io writer(std::move(second));
  io reader(std::move(first));
  outcomes seen;
  std::atomic<int> refused{0};
  std::atomic<unsigned> running{4};
  std::atomic<bool> ran_down{false};
  on_threads(6, [&](unsigned index) {
    if (index == 4) {
      do {
        reader.run_down();
      } while (running != 0);
      ran_down = true;
      return;
    }
    if (index == 5) {
      while (!ran_down) {  // or the run-down would wait for ever
        reader.cancel_all();
        std::this_thread::yield();
      }
      return;
    }
    for (int i = 0; i != number; ++i) {
      if (i % 8 == 0) {
        reader.accept([&] { ++refused; });
      } else {
        reader.read(one_byte{}, [&](const transfer<one_byte>& result) { seen.note(result); });
      }
    }
    --running;
  });
  const int refusals = 4 * ((number + 7) / 8);
  EXPECT_EQ(refused, refusals);
  EXPECT_EQ(seen.cancelled, 4 * number - refusals);
}

TEST_F(ios, read_and_write_a_file_from_many_threads) {
  const int number = scaled(50'000);
  constexpr std::size_t places = 512;
  const auto path =
      std::filesystem::temp_directory_path() / ("tidepool-stress-" + std::to_string(std::random_device()()));
  outcomes seen;
  {
    io file(endpoint::open_file(path, tidepool::access::read_write, tidepool::creation::create_new));
    on_threads(4, [&](unsigned index) {
      std::minstd_rand random(index + 1);
      for (int i = 0; i != number; ++i) {
        const std::size_t place = random() % places;
        std::string text(64, static_cast<char>('a' + place % 26));
        file.write_at(place * 64, std::move(text), [&file, &seen, place](transfer<std::string> written) {
          seen.note(written);
          file.read_at(place * 64, std::move(written.buffer), [&seen, place](const transfer<std::string>& result) {
            seen.note(result);
            EXPECT_EQ(result.buffer, std::string(64, static_cast<char>('a' + place % 26)));
          });
        });
        if (i % 1000 == 0) {
          file.run_down();  // so that the memory for it has a bound
        }
      }
    });
    file.run_down();
    EXPECT_EQ(file.outstanding(), 0u);
  }
  std::filesystem::remove(path);
  EXPECT_EQ(seen.completed, 8 * number);
}

}  // namespace
}  // namespace stress
