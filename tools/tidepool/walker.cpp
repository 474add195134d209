#include "walker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sum_line.hpp"

namespace tool {
namespace {

/// The order of whole paths when every folder's name ends in a slash, so that the walk comes out as a plain byte sort
/// of its paths would: "a.b" before what is in "a", since '.' sorts before '/'.
bool comes_before(const folder_entry& left, const folder_entry& right) {
  const std::size_t common = std::min(left.name.size(), right.name.size());
  const int order = left.name.compare(0, common, right.name, 0, common);
  if (order != 0) return order < 0;
  const auto next_byte = [&](const folder_entry& entry) -> int {
    if (entry.name.size() > common) return static_cast<unsigned char>(entry.name[common]);
    return entry.kind == file_kind::folder && !entry.unresolved ? '/' : -1;
  };
  return next_byte(left) < next_byte(right);
}

std::string shown_target(const std::string& path) {
  const std::string target = link_target(path);
  return target.empty() ? "" : fmt::format(" to '{}'", printable(target));
}

/// What is below the path given on the command line.
std::string_view below(std::string_view root, std::string_view path) {
  path.remove_prefix(root.size());
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

}  // namespace

std::string joined_path(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

std::string failure_message(std::error_code error) {
  return error == std::errc::no_such_file_or_directory ? "vanished before it could be read" : error.message();
}

walker::walker(std::string root, const exclusions& excluded, bool follow_folder_links)
    : root_{std::move(root)}, excluded_{excluded}, follow_folder_links_{follow_folder_links} {}

std::optional<walk_step> walker::next() {
  if (!std::exchange(begun_, true)) return begin();
  while (!levels_.empty()) {
    if (levels_.back().entries.empty()) {
      levels_.pop_back();
      continue;
    }
    const folder_entry entry = std::move(levels_.back().entries.back());
    levels_.back().entries.pop_back();
    if (auto step = visit(levels_.back(), entry)) return step;
  }
  return std::nullopt;
}

walk_step walker::begin() {
  if (root_.empty()) return {walk_step::kind::error, root_, "the path is empty"};
  std::error_code error;
  const file_status status = status_of(root_, error);
  if (error) return refuse(root_, error, true);
  if (status.kind == file_kind::regular) return {walk_step::kind::file, root_, {}};
  if (status.kind == file_kind::folder) return enter(root_, false);
  return {walk_step::kind::error, root_,
          fmt::format("is a {}, not a file or folder{}", name_of(status.kind),
                      status.kind == file_kind::fifo ? " (use - to read standard input)" : "")};
}

std::optional<walk_step> walker::visit(const level& in, const folder_entry& entry) {
  std::string path = joined_path(in.path, entry.name);
  const bool folder = !entry.unresolved && entry.kind == file_kind::folder;
  if (excluded_.cover(below(root_, path), folder)) return std::nullopt;
  if (entry.unresolved) {
    std::error_code error;
    status_of(path, error);
    // Whatever it was at first, it has a kind now: take what is there, as for a path that is given.
    if (error) return refuse(std::move(path), error, false);
    return walk_step{walk_step::kind::file, std::move(path), {}};
  }
  if (folder) {
    if (entry.link && !follow_folder_links_) return std::nullopt;
    return enter(std::move(path), entry.link);
  }
  if (entry.kind == file_kind::regular) return walk_step{walk_step::kind::file, std::move(path), {}};
  return walk_step{walk_step::kind::note, std::move(path), fmt::format("skipped, is a {}", name_of(entry.kind))};
}

walk_step walker::enter(std::string path, bool through_link) {
  std::error_code error;
  folder_listing listing = read_folder(path, error);
  const auto same = [&](const level& outer) { return outer.identity == listing.identity; };
  if (const auto outer = std::find_if(levels_.begin(), levels_.end(), same); !error && outer != levels_.end()) {
    return {walk_step::kind::error, std::move(path),
            fmt::format("loop: {} '{}', which contains it; not entered",
                        through_link ? "the link leads back to" : "is the same folder as", printable(outer->path))};
  }
  if (error && listing.entries.empty()) return refuse(std::move(path), error, levels_.empty());
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const folder_entry& left, const folder_entry& right) { return comes_before(right, left); });
  levels_.push_back({path, listing.identity, std::move(listing.entries)});
  if (error) return {walk_step::kind::error, std::move(path), "could be read in part only: " + error.message()};
  return {walk_step::kind::folder, std::move(path), {}};
}

walk_step walker::refuse(std::string path, std::error_code error, bool given) const {
  std::string message;
  const bool missing = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error == std::errc::too_many_symbolic_link_levels) {
    message = fmt::format("loop: the link{} leads back to itself", shown_target(path));
  } else if (missing && is_link(path)) {
    message = "broken link" + shown_target(path);
  } else if (missing && given) {
    message = error.message();
  } else {
    message = failure_message(error);
  }
  return {walk_step::kind::error, std::move(path), std::move(message)};
}

}  // namespace tool
