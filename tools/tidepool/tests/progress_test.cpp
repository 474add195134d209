#include "progress.hpp"

#include <gtest/gtest.h>

namespace {

using tool::progress_figures;
using tool::progress_line;
using tool::size_text;

TEST(size_text, has_one_digit_after_the_point_and_a_binary_unit) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(size_text(std::uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(size_text(UINT64_MAX), "16.0 EiB");
}

TEST(progress_line, has_no_bar_while_files_are_still_being_found) {
  const progress_figures figures{1234, 2048, 5678, 4096, false, 0};
  EXPECT_EQ(progress_line(figures, 79), "1,234/5,678+ files  2.0 KiB/4.0 KiB+");
}

TEST(progress_line, has_a_bar_and_a_percentage_once_the_totals_are_known) {
  const progress_figures figures{5, 1024, 10, 4096, true, 0};
  EXPECT_EQ(progress_line(figures, 79),
            "[" + std::string(10, '=') + std::string(30, ' ') + "]  25%  5/10 files  1.0 KiB/4.0 KiB");
}

TEST(progress_line, shows_the_rate_after_a_moment) {
  const progress_figures figures{5, 4096, 10, 4096, false, 2.0};
  EXPECT_EQ(progress_line(figures, 79), "5/10+ files  4.0 KiB/4.0 KiB+  2.0 KiB/s");
}

TEST(progress_line, counts_files_when_there_are_no_bytes) {
  const progress_figures figures{5, 0, 10, 0, true, 0};
  EXPECT_NE(progress_line(figures, 79).find(" 50%"), std::string::npos);
}

TEST(progress_line, never_goes_beyond_the_end) {
  const progress_figures figures{12, 5000, 10, 4096, true, 0};
  EXPECT_NE(progress_line(figures, 79).find("100%"), std::string::npos);
  EXPECT_NE(progress_line({0, 0, 0, 0, true, 0}, 79).find("100%"), std::string::npos);
}

TEST(progress_line, fits_any_width) {
  const progress_figures figures{123456, std::uint64_t{1} << 40, 999999, std::uint64_t{1} << 45, true, 3.0};
  for (int width = -1; width < 200; ++width) {
    EXPECT_LE(progress_line(figures, width).size(), static_cast<std::size_t>(std::max(width, 1))) << width;
  }
}

}  // namespace
