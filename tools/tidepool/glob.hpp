#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// Whether the whole text matches the pattern. `*` is any run of characters but a slash, `**` any run at all, `?` one
/// character but a slash, `[a-z]` one of a set, `[!a-z]` one outside it, `\` takes the next character as it is. A `[`
/// that is never closed stands for itself. Characters are UTF-8; a byte that is none counts as one character.
bool glob_matches(std::string_view pattern, std::string_view text);

/// The patterns of `--exclude`. One without a slash is compared with names, at any depth; one with a slash with paths
/// counted from the folder given on the command line; one that ends in a slash with folders only.
class exclusions {
 public:
  explicit exclusions(const std::vector<std::string>& patterns);

  /// `path` begins below the folder given on the command line and has no slash at either end.
  bool cover(std::string_view path, bool folder) const;

 private:
  struct rule {
    std::string pattern;
    bool whole_path;
    bool folders_only;
  };
  std::vector<rule> rules_;
};

}  // namespace tool
