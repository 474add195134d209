// Many requests at once, from many threads.
#include <vector>

#include "io.hpp"

namespace safe {
namespace {

class load : public safe_test {};

TEST_F(load, of_512_file_reads_at_once_brings_each_its_own_part) {
  constexpr std::size_t number = 512;
  constexpr std::size_t size = 4096;
  const std::string content = pattern(number * size);
  const scratch_file file(content);
  io object(endpoint::open_file(file.path(), access::read));
  std::vector<text_answer> answers(number);
  for (std::size_t i = 0; i != number; ++i) {
    object.read_at(i * size, std::string(size, ' '), answers[i].handler());
  }
  for (std::size_t i = 0; i != number; ++i) {
    expect_read(answers[i].get(), content.substr(i * size, size));
  }
  object.run_down();
  EXPECT_EQ(object.outstanding(), 0u);
}

TEST_F(load, of_256_pipe_reads_outstanding_is_served_in_order) {
  constexpr std::size_t number = 256;
  channel<pipe_kind> ends;
  std::vector<text_answer> answers(number);
  for (const text_answer& each : answers) {
    ends.reader.read(std::string(2, ' '), each.handler());
  }
  EXPECT_EQ(ends.reader.outstanding(), number);
  const std::string content = pattern(2 * number);
  for (std::size_t i = 0; i != number; ++i) {
    write_and_wait<pipe_kind>(ends.writer, content.substr(2 * i, 2));
  }
  for (std::size_t i = 0; i != number; ++i) {
    expect_read(answers[i].get(), content.substr(2 * i, 2));
  }
}

TEST_F(load, of_eight_threads_on_one_io_loses_nothing) {
  constexpr std::size_t threads = 8;
  constexpr std::size_t each = 200;
  constexpr std::size_t size = 16;
  const scratch_file file;
  io object(endpoint::open_file(file.path(), access::read_write, creation::create_new));
  tally written;
  {
    std::vector<std::jthread> writers;
    for (std::size_t thread = 0; thread != threads; ++thread) {
      writers.emplace_back([&, thread] {
        for (std::size_t i = 0; i != each; ++i) {
          const std::string text(size, static_cast<char>('a' + thread));
          object.write_at((i * threads + thread) * size, text, [&](const transfer<std::string>& result) {
            expect_done(result, size);
            written.add();
          });
          if (i % 16 == 0) {
            object.accept([] {});  // refused, in between
          }
        }
      });
    }
  }
  EXPECT_TRUE(written.reaches(threads * each));
  object.run_down();
  EXPECT_EQ(written.count(), threads * each);
  EXPECT_EQ(object.outstanding(), 0u);
  const std::string content = file.content();
  ASSERT_EQ(content.size(), threads * each * size);
  for (std::size_t i = 0; i != content.size(); ++i) {
    ASSERT_EQ(content[i], static_cast<char>('a' + i / size % threads)) << i;
  }
}

TEST_F(load, of_eight_threads_that_start_and_cancel_leaves_nothing_behind) {
  channel<pipe_kind> ends;
  std::atomic<int> started = 0;
  std::atomic<int> handled = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread != 8; ++thread) {
      threads.emplace_back([&, thread] {
        std::vector<operation_id> mine;
        for (int i = 0; i != 300; ++i) {
          mine.push_back(ends.reader.read(std::string(1, ' '), [&] { ++handled; }));
          ++started;
          if (i % 3 == thread % 3) {
            static_cast<void>(ends.reader.cancel(mine[static_cast<std::size_t>(i / 2)]));
          }
        }
        for (const operation_id& each : mine) {
          static_cast<void>(ends.reader.cancel(each));
        }
      });
    }
    for (int i = 0; i != 100; ++i) {
      write_and_wait<pipe_kind>(ends.writer, "x");
    }
  }
  ends.reader.run_down();
  EXPECT_EQ(started, 8 * 300);
  EXPECT_EQ(handled, started);
  EXPECT_EQ(ends.reader.outstanding(), 0u);
}

}  // namespace
}  // namespace safe
