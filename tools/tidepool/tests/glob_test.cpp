#include "glob.hpp"

#include <gtest/gtest.h>

namespace {

using tool::exclusions;
using tool::glob_matches;

TEST(glob, plain_text_matches_itself_only) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("abc", "abc"));
  EXPECT_FALSE(glob_matches("abc", "ab"));
  EXPECT_FALSE(glob_matches("ab", "abc"));
  EXPECT_FALSE(glob_matches("abc", "aBc"));
}

TEST(glob, a_star_is_any_run_without_a_slash) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("*.o", "a.b.o"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbYbZc"));
  EXPECT_TRUE(glob_matches("a*", "a"));
  EXPECT_FALSE(glob_matches("a*b", "aXc"));
  EXPECT_FALSE(glob_matches("a*c", "a/c"));
  EXPECT_FALSE(glob_matches("*", "a/b"));
}

TEST(glob, two_stars_are_any_run) {
  EXPECT_TRUE(glob_matches("a/**", "a/b/c"));
  EXPECT_TRUE(glob_matches("**/c", "a/b/c"));
  EXPECT_TRUE(glob_matches("**/b*/d", "b1/x/b2/d"));
  EXPECT_TRUE(glob_matches("**a*b", "xa/xab"));
  EXPECT_TRUE(glob_matches("*a**b", "xa/x/b"));
  EXPECT_FALSE(glob_matches("**/b*/d", "b1/x/c2/d"));
}

TEST(glob, a_question_mark_is_one_character_of_any_length) {
  EXPECT_TRUE(glob_matches("?", "a"));
  EXPECT_TRUE(glob_matches("?", "\xC3\xA4"));
  EXPECT_TRUE(glob_matches("a?c",
                           "a\xF0\x9F\x8C\x8A"
                           "c"));
  EXPECT_TRUE(glob_matches("?", "\xFF"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("?", "ab"));
  EXPECT_FALSE(glob_matches("?", "/"));
}

TEST(glob, a_set_is_one_of_its_members) {
  EXPECT_TRUE(glob_matches("[abc]", "b"));
  EXPECT_TRUE(glob_matches("[a-cx-z]", "y"));
  EXPECT_TRUE(glob_matches("[!a-c]", "d"));
  EXPECT_TRUE(glob_matches("[^a-c]", "d"));
  EXPECT_TRUE(glob_matches("[]a]", "]"));
  EXPECT_TRUE(glob_matches("[a-]", "-"));
  EXPECT_TRUE(glob_matches("[\\]]", "]"));
  EXPECT_TRUE(glob_matches("[\xC3\xA4-\xC3\xB6]", "\xC3\xA5"));
  EXPECT_FALSE(glob_matches("[a-c]", "d"));
  EXPECT_FALSE(glob_matches("[!a-c]", "b"));
  EXPECT_FALSE(glob_matches("[!a]", "/"));
  EXPECT_FALSE(glob_matches("[a-z]", "\xC3\xA4"));
}

TEST(glob, a_bracket_that_is_not_closed_is_itself) {
  EXPECT_TRUE(glob_matches("[ab", "[ab"));
  EXPECT_TRUE(glob_matches("a[", "a["));
  EXPECT_FALSE(glob_matches("[ab", "a"));
}

TEST(glob, a_backslash_takes_the_meaning_away) {
  EXPECT_TRUE(glob_matches("\\*", "*"));
  EXPECT_FALSE(glob_matches("\\*", "a"));
  EXPECT_TRUE(glob_matches("\\[a]", "[a]"));
  EXPECT_TRUE(glob_matches("a\\", "a\\"));
}

TEST(glob, many_stars_against_a_long_text_end) {
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*b", std::string(10000, 'a')));
  EXPECT_FALSE(glob_matches("**a**a**a**a*a*a*b", std::string(3000, 'a')));
}

TEST(exclusions, without_a_slash_a_pattern_is_compared_with_the_name) {
  const exclusions excluded{{"*.o", "build"}};
  EXPECT_TRUE(excluded.cover("a.o", false));
  EXPECT_TRUE(excluded.cover("deep/er/a.o", false));
  EXPECT_TRUE(excluded.cover("deep/build", true));
  EXPECT_FALSE(excluded.cover("build2", true));
}

TEST(exclusions, with_a_slash_a_pattern_is_compared_with_the_path) {
  const exclusions excluded{{"/build", "src/*.o", "./docs/x"}};
  EXPECT_TRUE(excluded.cover("build", true));
  EXPECT_TRUE(excluded.cover("src/a.o", false));
  EXPECT_TRUE(excluded.cover("docs/x", false));
  EXPECT_FALSE(excluded.cover("src/build", true));
  EXPECT_FALSE(excluded.cover("lib/src/a.o", false));
}

TEST(exclusions, a_slash_at_the_end_restricts_a_pattern_to_folders) {
  const exclusions excluded{{"build/", "a/b/"}};
  EXPECT_TRUE(excluded.cover("x/build", true));
  EXPECT_FALSE(excluded.cover("x/build", false));
  EXPECT_TRUE(excluded.cover("a/b", true));
  EXPECT_FALSE(excluded.cover("x/a/b", true));
}

}  // namespace
