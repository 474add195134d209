#include "overlapped_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>

#include "tidepool/pool.hpp"

namespace {

using tool::digest;
using sum = tool::overlapped_sum;

struct outcome {
  std::error_code error;
  digest value;
};

class overlapped_sum : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / ("tidepool-" + std::string{test->name()});
    environment_.set_pool(pool_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string write(std::size_t size) {
    std::string contents(size, '\0');
    std::uint32_t state = 1;
    for (char& each : contents) {
      state = state * 1664525u + 1013904223u;
      each = static_cast<char>(state >> 24);
    }
    std::ofstream{path_, std::ios::binary} << contents;
    return contents;
  }

  outcome sum_of(std::uint64_t size) {
    std::promise<outcome> promise;
    sum object{tidepool::endpoint::open_file(path_, tidepool::access::read), size, environment_, done_,
               [&](const std::error_code& error, const digest& value) { promise.set_value({error, value}); }};
    object.start();
    return promise.get_future().get();
  }

  static digest plain(const std::string& contents) {
    tool::xxh3_128 hash;
    hash.update(reinterpret_cast<const std::byte*>(contents.data()), contents.size());
    return hash.result();
  }

  std::filesystem::path path_;
  tidepool::pool pool_;
  tidepool::callback_environment environment_;
  tool::file_count done_;
};

TEST_F(overlapped_sum, is_that_of_the_contents_whatever_the_size) {
  constexpr std::size_t part = sum::part_size;
  std::uint64_t bytes = 0;
  for (const std::size_t size : {std::size_t{1}, part - 1, part, part + 1, sum::parts_at_once * part,
                                 sum::parts_at_once * part + 1, 3 * sum::parts_at_once * part + 17}) {
    const std::string contents = write(size);
    const outcome result = sum_of(size);
    EXPECT_FALSE(result.error) << size;
    EXPECT_EQ(result.value, plain(contents)) << size;
    bytes += size;
    EXPECT_EQ(done_.bytes(), bytes);
  }
  EXPECT_EQ(done_.files(), 7u);
}

TEST_F(overlapped_sum, ends_where_a_file_ends_that_has_become_shorter) {
  constexpr std::size_t part = sum::part_size;
  for (const std::size_t size : {std::size_t{0}, part, 2 * part + 5}) {
    const std::string contents = write(size);
    const outcome result = sum_of(20 * part);
    EXPECT_FALSE(result.error) << size;
    EXPECT_EQ(result.value, plain(contents)) << size;
  }
}

TEST_F(overlapped_sum, leaves_out_what_has_been_added_to_a_file) {
  const std::string contents = write(5 * sum::part_size);
  const std::size_t known = 4 * sum::part_size + 3;
  EXPECT_EQ(sum_of(known).value, plain(contents.substr(0, known)));
}

TEST_F(overlapped_sum, of_many_files_at_once) {
  const std::string contents = write(9 * sum::part_size + 1);
  const digest expected = plain(contents);
  for (int round = 0; round != 10; ++round) {
    std::array<std::promise<outcome>, 8> promises;
    std::array<std::optional<sum>, 8> objects;
    for (std::size_t i = 0; i != objects.size(); ++i) {
      objects[i].emplace(
          tidepool::endpoint::open_file(path_, tidepool::access::read), contents.size(), environment_, done_,
          [&, i](const std::error_code& error, const digest& value) { promises[i].set_value({error, value}); });
      objects[i]->start();
    }
    for (std::promise<outcome>& each : promises) {
      const outcome result = each.get_future().get();
      EXPECT_FALSE(result.error);
      EXPECT_EQ(result.value, expected);
    }
  }
}

#ifndef _WIN32
TEST_F(overlapped_sum, reports_what_can_not_be_read) {
  write(2 * sum::part_size);
  std::promise<outcome> promise;
  sum object{tidepool::endpoint::open_file(path_, tidepool::access::write), 2 * sum::part_size, environment_, done_,
             [&](const std::error_code& error, const digest& value) { promise.set_value({error, value}); }};
  object.start();
  EXPECT_EQ(promise.get_future().get().error, std::errc::permission_denied);
  EXPECT_EQ(done_.files(), 0u);
}
#endif

}  // namespace
