#include "sum_line.hpp"

#include <gtest/gtest.h>

namespace {

using tool::printable;
using tool::sum_line;

const tool::digest digest{0x00, 0x01, 0x7F, 0x80, 0xFF, 0xA0, 0x0B, 0xC0, 1, 2, 3, 4, 5, 6, 7, 8};
const std::string hexadecimal = "00017f80ffa00bc00102030405060708";

TEST(sum_line, is_the_digest_two_spaces_and_the_path) { EXPECT_EQ(sum_line(digest, "a/b"), hexadecimal + "  a/b\n"); }

TEST(sum_line, is_escaped_only_for_a_newline_in_the_path) {
  EXPECT_EQ(sum_line(digest, "a\\b"), hexadecimal + "  a\\b\n");
  EXPECT_EQ(sum_line(digest, "a\rb"), hexadecimal + "  a\rb\n");
  EXPECT_EQ(sum_line(digest, "a\\\nb\r"), "\\" + hexadecimal + "  a\\\\\\nb\\r\n");
}

TEST(sum_line, tells_a_file_named_stdin_from_standard_input) {
  EXPECT_EQ(sum_line(digest, "stdin"), hexadecimal + "  ./stdin\n");
  EXPECT_EQ(sum_line(digest, "a/stdin"), hexadecimal + "  a/stdin\n");
  EXPECT_EQ(tool::standard_input_line(digest), hexadecimal + "  stdin\n");
}

TEST(printable, text_is_left_alone) {
  EXPECT_EQ(printable("a b\\c"), "a b\\c");
  EXPECT_EQ(printable("\xC3\xA4\xE6\xBD\xAE\xF0\x9F\x8C\x8A"), "\xC3\xA4\xE6\xBD\xAE\xF0\x9F\x8C\x8A");
}

TEST(printable, control_characters_are_shown) {
  EXPECT_EQ(printable("\n\r\t\x1B[0m\x7F"), "\\n\\r\\t\\x1b[0m\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\xC2\xA0"), "\xC2\xA0");
}

TEST(printable, bytes_that_are_no_utf8_are_shown) {
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xC0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xE6\xBD"), "\\xe6\\xbd");
}

}  // namespace
