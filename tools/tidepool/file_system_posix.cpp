#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

#include "file_system.hpp"

namespace tool {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

file_kind kind_of(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG: return file_kind::regular;
    case S_IFDIR: return file_kind::folder;
    case S_IFIFO: return file_kind::fifo;
    case S_IFSOCK: return file_kind::socket;
    case S_IFCHR: return file_kind::character_device;
    case S_IFBLK: return file_kind::block_device;
    default: return file_kind::other;
  }
}

file_status status_from(const struct stat& information) noexcept {
  return {kind_of(information.st_mode), static_cast<std::uint64_t>(information.st_size)};
}

file_identity identity_from(const struct stat& information) noexcept {
  return {static_cast<std::uint64_t>(information.st_dev), static_cast<std::uint64_t>(information.st_ino)};
}

/// Fills in what the folder itself does not say: the kind behind a link, and on file systems that leave the kind out of
/// their listings any kind at all.
void resolve(int folder, folder_entry& entry, unsigned char type) {
  switch (type) {
    case DT_REG: entry.kind = file_kind::regular; return;
    case DT_DIR: entry.kind = file_kind::folder; return;
    case DT_FIFO: entry.kind = file_kind::fifo; return;
    case DT_SOCK: entry.kind = file_kind::socket; return;
    case DT_CHR: entry.kind = file_kind::character_device; return;
    case DT_BLK: entry.kind = file_kind::block_device; return;
    default: break;
  }
  struct stat information;
  if (type == DT_LNK) {
    entry.link = true;
  } else if (fstatat(folder, entry.name.c_str(), &information, AT_SYMLINK_NOFOLLOW) == 0) {
    entry.link = S_ISLNK(information.st_mode);
    entry.kind = kind_of(information.st_mode);
  } else {
    entry.unresolved = true;
    return;
  }
  if (!entry.link) return;
  if (fstatat(folder, entry.name.c_str(), &information, 0) == 0) {
    entry.kind = kind_of(information.st_mode);
  } else {
    entry.unresolved = true;
  }
}

struct close_folder {
  void operator()(DIR* folder) const noexcept { closedir(folder); }
};

}  // namespace

file_status status_of(const std::string& path, std::error_code& error) {
  struct stat information;
  if (stat(path.c_str(), &information) != 0) {
    error = last_error();
    return {};
  }
  error.clear();
  return status_from(information);
}

bool is_link(const std::string& path) {
  struct stat information;
  return lstat(path.c_str(), &information) == 0 && S_ISLNK(information.st_mode);
}

std::string link_target(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return target;
}

folder_listing read_folder(const std::string& path, std::error_code& error) {
  error.clear();
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    error = last_error();
    return {};
  }
  const std::unique_ptr<DIR, close_folder> folder{fdopendir(descriptor)};
  if (!folder) {
    error = last_error();
    ::close(descriptor);
    return {};
  }
  folder_listing listing;
  struct stat information;
  if (fstat(descriptor, &information) != 0) {
    error = last_error();
    return {};
  }
  listing.identity = identity_from(information);
  for (;;) {
    errno = 0;
    const dirent* found = readdir(folder.get());
    if (found == nullptr) {
      if (errno != 0) error = last_error();
      return listing;
    }
    folder_entry entry;
    entry.name = found->d_name;
    if (entry.name == "." || entry.name == "..") continue;
    resolve(descriptor, entry, found->d_type);
    listing.entries.push_back(std::move(entry));
  }
}

input_file input_file::open(const std::string& path, std::error_code& error) {
  input_file file;
  // O_NONBLOCK: a named pipe that took the file's place must not make the open wait. It changes nothing for a file.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) {
    error = last_error();
    return file;
  }
  file.handle_ = descriptor;
  file.owned_ = true;
  struct stat information;
  if (fstat(descriptor, &information) != 0) {
    error = last_error();
    return file;
  }
  error.clear();
  file.status_ = status_from(information);
  file.identity_ = identity_from(information);
  return file;
}

input_file input_file::standard_input() noexcept {
  input_file file;
  file.handle_ = STDIN_FILENO;
  return file;
}

std::size_t input_file::read(std::span<std::byte> buffer, std::error_code& error) {
  for (;;) {
    const ssize_t count = ::read(static_cast<int>(handle_), buffer.data(), buffer.size());
    if (count >= 0) {
      error.clear();
      return static_cast<std::size_t>(count);
    }
    if (errno == EAGAIN && !owned_) {  // standard input that somebody else set to non-blocking
      wait_readable(-1);
    } else if (errno != EINTR) {
      error = last_error();
      return 0;
    }
  }
}

tidepool::endpoint input_file::for_overlapped_use() const {
  const int duplicate = fcntl(static_cast<int>(handle_), F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) throw std::system_error{last_error(), "fcntl"};
  try {
    return tidepool::endpoint::adopt_descriptor(duplicate);
  } catch (...) {
    ::close(duplicate);
    throw;
  }
}

bool input_file::wait_readable(int milliseconds) noexcept {
  pollfd descriptor{static_cast<int>(handle_), POLLIN, 0};
  const int ready = poll(&descriptor, 1, milliseconds);
  return ready > 0 || (ready < 0 && errno != EINTR);
}

void input_file::close() noexcept {
  if (owned_) ::close(static_cast<int>(handle_));
}

}  // namespace tool
