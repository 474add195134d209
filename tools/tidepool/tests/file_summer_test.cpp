#include "file_summer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#ifndef _WIN32
#include <sys/stat.h>
#endif

namespace {

using tool::sum_result;

/// A folder of its own for each test, gone at the end of it.
class file_summer : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / ("tidepool-" + std::string{test->name()});
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& contents) {
    std::ofstream{folder_ / name, std::ios::binary} << contents;
    return path(name);
  }
  std::string path(const std::string& name) const { return (folder_ / name).generic_string(); }

  std::filesystem::path folder_;
  tool::file_count done_;
  tool::file_summer summer_{{}, done_};
};

TEST_F(file_summer, counts_the_files_and_bytes_it_has_read) {
  EXPECT_EQ(summer_.sum({write("a", "abc")}).what, sum_result::kind::summed);
  EXPECT_EQ(summer_.sum({write("b", std::string(1000000, 'x'))}).what, sum_result::kind::summed);
  EXPECT_EQ(done_.files(), 2u);
  EXPECT_EQ(done_.bytes(), 1000003u);
}

TEST_F(file_summer, says_that_a_file_vanished_after_it_was_found) {
  const sum_result result = summer_.sum({path("gone")});
  EXPECT_EQ(result.what, sum_result::kind::error);
  EXPECT_EQ(result.message, "vanished before it could be read");
  EXPECT_EQ(done_.files(), 0u);
}

TEST_F(file_summer, passes_over_what_is_no_longer_a_file) {
  const sum_result found = summer_.sum({path("")});
  EXPECT_EQ(found.what, sum_result::kind::note);
  EXPECT_EQ(found.message, "skipped, has become a folder since it was found");
  const sum_result given = summer_.sum({path(""), true});
  EXPECT_EQ(given.what, sum_result::kind::error);
}

TEST_F(file_summer, leaves_out_the_files_that_the_program_writes) {
  const std::string output = write("output", "x");
  std::error_code error;
  const tool::file_identity identity = tool::input_file::open(output, error).identity();
  ASSERT_FALSE(error);
  tool::file_summer summer{{identity}, done_};
  EXPECT_EQ(summer.sum({output}).what, sum_result::kind::note);
  EXPECT_EQ(summer.sum({output, true}).what, sum_result::kind::error);
  EXPECT_EQ(summer.sum({write("other", "x")}).what, sum_result::kind::summed);
}

#ifndef _WIN32
TEST_F(file_summer, does_not_wait_for_the_writer_of_a_named_pipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const sum_result result = summer_.sum({path("pipe")});
  EXPECT_EQ(result.what, sum_result::kind::note);
  EXPECT_EQ(result.message, "skipped, has become a named pipe since it was found");
}
#endif

}  // namespace
