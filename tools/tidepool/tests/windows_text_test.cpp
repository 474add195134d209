#include "windows_text.hpp"

#include <gtest/gtest.h>

namespace {

using tool::native_path;
using tool::to_utf16;
using tool::to_utf8;

TEST(windows_text, every_length_of_utf8_survives_the_round_trip) {
  const std::string text = "a\xC3\xA4\xE6\xBD\xAE\xF0\x9F\x8C\x8A";
  EXPECT_EQ(to_utf16(text), std::wstring(L"a\u00e4\u6f6e") + wchar_t{0xD83C} + wchar_t{0xDF0A});
  EXPECT_EQ(to_utf8(to_utf16(text)), text);
}

TEST(windows_text, an_unpaired_surrogate_survives_the_round_trip) {
  const std::wstring name{L'a', wchar_t{0xD83C}, L'b', wchar_t{0xDC00}};
  EXPECT_EQ(to_utf16(to_utf8(name)), name);
}

TEST(windows_text, bytes_that_are_no_utf8_are_replaced) {
  EXPECT_EQ(to_utf16("a\xFF"
                     "b\xC3"),
            L"a\xFFFD"
            L"b\xFFFD");
}

TEST(windows_text, a_long_path_gets_the_form_without_a_limit) {
  EXPECT_EQ(native_path("C:/a/b"), L"C:\\a\\b");
  const std::string long_name(300, 'x');
  EXPECT_EQ(native_path("C:/a/../" + long_name), L"\\\\?\\C:\\" + std::wstring(300, L'x'));
  EXPECT_EQ(native_path("//server/share/" + long_name), L"\\\\?\\UNC\\server\\share\\" + std::wstring(300, L'x'));
}

}  // namespace
