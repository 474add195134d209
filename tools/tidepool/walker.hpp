#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "file_system.hpp"
#include "glob.hpp"

namespace tool {

/// What a walk comes to next.
struct walk_step {
  enum class kind {
    file,    ///< a regular file to sum
    folder,  ///< a folder that is being entered; nothing to do
    note,    ///< passed over, and that is fine
    error    ///< could not be walked
  };
  kind what = kind::folder;
  std::string path;
  std::string message;  ///< for a note or an error
};

/// Walks one path given on the command line, a step at a time, in the byte order of the paths it comes to. Links are
/// followed, to folders too, except back to a folder that the walk is inside of.
///
/// Holds one listing for each folder between the path given and where the walk is, so memory grows with the largest
/// folders on one branch and not with the size of the tree. For one thread at a time.
class walker {
 public:
  walker(std::string root, const exclusions& excluded, bool follow_folder_links);

  /// The next step, nothing at the end.
  std::optional<walk_step> next();

 private:
  struct level {
    std::string path;  // ends without a slash, but for the root of the file system
    file_identity identity;
    std::vector<folder_entry> entries;  // last one first
  };

  walk_step begin();
  std::optional<walk_step> visit(const level& in, const folder_entry& entry);
  walk_step enter(std::string path, bool through_link);
  walk_step refuse(std::string path, std::error_code error, bool given) const;

  std::string root_;
  const exclusions& excluded_;
  bool follow_folder_links_;
  bool begun_ = false;
  std::vector<level> levels_;
};

/// `folder/name`, without doubling the slash.
std::string joined_path(const std::string& folder, const std::string& name);

/// The words for a failure to reach a file that the walk had seen.
std::string failure_message(std::error_code error);

}  // namespace tool
