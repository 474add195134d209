#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "output_file.hpp"

namespace tool {
namespace {

constexpr mode_t permissions_of_new_files = 0666;  // less the umask

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code write_and_close(int descriptor, std::string_view text, bool sync) {
  std::error_code error;
  while (!text.empty() && !error) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      error = last_error();
    }
  }
  if (!error && sync && fsync(descriptor) != 0) error = last_error();
  if (close(descriptor) != 0 && !error) error = last_error();
  return error;
}

std::string resolved(const std::string& path) {
  char* found = realpath(path.c_str(), nullptr);
  if (found == nullptr) return path;
  std::string result{found};
  std::free(found);
  return result;
}

}  // namespace

std::error_code replace_file(const std::string& path, std::string_view text) {
  struct stat there;
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor < 0 ? last_error() : write_and_close(descriptor, text, false);
  }
  if (exists && access(path.c_str(), W_OK) != 0) return last_error();  // renaming would not ask

  const std::string target = exists ? resolved(path) : path;
  const std::string part = target + "." + std::to_string(getpid()) + ".part";
  const int descriptor = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions_of_new_files);
  if (descriptor < 0) return last_error();
  std::error_code error;
  if (exists && fchmod(descriptor, there.st_mode & 07777) != 0) error = last_error();
  const std::error_code written = write_and_close(descriptor, text, true);
  if (!error) error = written;
  if (!error && std::rename(part.c_str(), target.c_str()) != 0) error = last_error();
  if (error) unlink(part.c_str());
  return error;
}

}  // namespace tool
