#include "glob.hpp"

#include <algorithm>
#include <optional>

#include "utf8.hpp"

namespace tool {
namespace {

/// Takes one character off the text: a UTF-8 sequence, or a single byte that is none.
std::string_view take_character(std::string_view& text) {
  const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text), 1);
  const std::string_view character = text.substr(0, length);
  text.remove_prefix(length);
  return character;
}

/// Byte order of well-formed UTF-8 is the order of its code points once the lengths agree.
bool not_after(std::string_view left, std::string_view right) {
  return left.size() != right.size() ? left.size() < right.size() : left <= right;
}

/// `pattern` begins after the `[`. Takes the set off the pattern and says whether the character is in it; nothing, and
/// the pattern untouched, when the set is not closed.
std::optional<bool> match_set(std::string_view& pattern, std::string_view character) {
  std::string_view rest = pattern;
  const bool negated = !rest.empty() && (rest.front() == '!' || rest.front() == '^');
  if (negated) rest.remove_prefix(1);
  const auto take_member = [&] {
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    return take_character(rest);
  };
  bool found = false;
  for (bool first = true;; first = false) {
    if (rest.empty()) return std::nullopt;
    if (rest.front() == ']' && !first) break;  // a bracket in first place is a member
    const std::string_view low = take_member();
    std::string_view high = low;
    if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      high = take_member();
    }
    found = found || (not_after(low, character) && not_after(character, high));
  }
  pattern = rest.substr(1);
  return found != negated;
}

/// Matches one non-star pattern element against one character, and takes both off.
bool match_one(std::string_view& pattern, std::string_view& text) {
  const std::string_view character = take_character(text);
  const char element = pattern.front();
  if (element == '?') {
    pattern.remove_prefix(1);
    return character != "/";
  }
  if (element == '[') {
    std::string_view set = pattern.substr(1);
    if (const std::optional<bool> in_set = match_set(set, character)) {
      pattern = set;
      return *in_set && character != "/";
    }
  }
  if (element == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
  return take_character(pattern) == character;
}

/// A star to come back to: what follows it in the pattern, and the text it has not swallowed yet.
struct star {
  std::string_view pattern;
  std::string_view text;
};

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  // The last star of each sort is enough to come back to: an earlier one could only swallow what a later one can. A `*`
  // after a `**` is given up when it meets a slash, and then the `**` swallows more.
  std::optional<star> single;
  std::optional<star> twofold;
  const auto retry = [&] {
    if (single && !single->text.empty() && single->text.front() != '/') {
      take_character(single->text);
      pattern = single->pattern;
      text = single->text;
      return true;
    }
    single.reset();
    if (!twofold || twofold->text.empty()) return false;
    take_character(twofold->text);
    pattern = twofold->pattern;
    text = twofold->text;
    return true;
  };
  for (;;) {
    if (pattern.starts_with("**")) {
      pattern.remove_prefix(2);
      twofold = star{pattern, text};
      single.reset();
    } else if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      single = star{pattern, text};
    } else if (pattern.empty() && text.empty()) {
      return true;
    } else if (pattern.empty() || text.empty() || !match_one(pattern, text)) {
      if (!retry()) return false;
    }
  }
}

exclusions::exclusions(const std::vector<std::string>& patterns) {
  for (std::string_view pattern : patterns) {
    if (pattern.starts_with("./")) pattern.remove_prefix(2);
    const bool folders_only = pattern.ends_with('/');
    while (pattern.ends_with('/')) pattern.remove_suffix(1);
    const bool whole_path = pattern.find('/') != std::string_view::npos;
    while (pattern.starts_with('/')) pattern.remove_prefix(1);
    rules_.push_back({std::string{pattern}, whole_path, folders_only});
  }
}

bool exclusions::cover(std::string_view path, bool folder) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(rules_.begin(), rules_.end(), [&](const rule& r) {
    return (folder || !r.folders_only) && glob_matches(r.pattern, r.whole_path ? path : name);
  });
}

}  // namespace tool
