#pragma once

// The little of a file system that the tool needs, with the system's own answer kept for every failure. Paths are bytes
// on POSIX and UTF-8 on Windows (unpaired surrogates in the generalised form, so that every name survives the round
// trip); the separator is a slash on both.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tidepool/endpoint.hpp"

namespace tool {

enum class file_kind { regular, folder, fifo, socket, character_device, block_device, other };

/// What a message calls a file of this kind, for example "named pipe".
std::string_view name_of(file_kind kind) noexcept;

/// Two paths with equal identities are the same file or folder.
struct file_identity {
  std::uint64_t volume = 0;
  std::uint64_t file = 0;
  bool operator==(const file_identity&) const = default;
};

struct file_status {
  file_kind kind = file_kind::other;
  std::uint64_t size = 0;
};

/// The file that the path leads to, links followed.
file_status status_of(const std::string& path, std::error_code& error);

/// True when the path itself is a link, whether or not it leads anywhere.
bool is_link(const std::string& path);

/// Where the link points, as it is written there; empty when that cannot be read.
std::string link_target(const std::string& path);

struct folder_entry {
  std::string name;
  file_kind kind = file_kind::other;  ///< of the target, when the entry is a link
  bool link = false;
  bool unresolved = false;  ///< a link that leads nowhere, or an entry whose kind could not be asked
};

struct folder_listing {
  file_identity identity;
  std::vector<folder_entry> entries;  ///< in no order
};

/// Everything in the folder but "." and "..".
folder_listing read_folder(const std::string& path, std::error_code& error);

/// A file open for reading from its beginning to its end. Opening never waits, not even for the writer of a named pipe.
class input_file {
 public:
  static input_file open(const std::string& path, std::error_code& error);
  /// Shares the descriptor of standard input, and leaves it open.
  static input_file standard_input() noexcept;

  input_file() noexcept = default;
  input_file(input_file&& other) noexcept;
  input_file& operator=(input_file&& other) noexcept;
  ~input_file();

  file_kind kind() const noexcept { return status_.kind; }
  std::uint64_t size() const noexcept { return status_.size; }
  file_identity identity() const noexcept { return identity_; }

  /// Fills the buffer from its beginning as far as one read goes. Zero with no error is the end of the file.
  std::size_t read(std::span<std::byte> buffer, std::error_code& error);

  /// The same file, for requests at any offset. Throws std::system_error.
  tidepool::endpoint for_overlapped_use() const;

  /// Waits until `read` has something to say, at most this long; false when the time is over. A system that cannot
  /// wait for this file says true at once.
  bool wait_readable(int milliseconds) noexcept;

 private:
  void close() noexcept;

  std::intptr_t handle_ = -1;
  bool owned_ = false;
  file_status status_;
  file_identity identity_;
};

}  // namespace tool
