// CreateFile and its like.
#include "engine/open_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <string_view>

#include "engine/disk_file.hpp"
#include "engine/io_path.hpp"
#include "engine/last_error.hpp"
#include "engine/stream.hpp"
#include "engine/system_error.hpp"
#include "tidepool/win32/tpextensions.h"
#include "tidepool/win32/windows.h"

namespace tidepool::engine {

namespace {

bool is_stream_socket(int descriptor) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

file* make_disk_file(int descriptor, bool overlapped) noexcept {
  if (overlapped && io_path::is_unavailable()) {
    return fail<file*>(ERROR_NOT_SUPPORTED);
  }
  file* const made = new (std::nothrow) disk_file(descriptor, overlapped);
  return made != nullptr ? made : fail<file*>(ERROR_NOT_ENOUGH_MEMORY);
}

}  // namespace

file* make_file(int descriptor, bool overlapped) noexcept {
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    return fail<file*>(errno == EBADF ? ERROR_INVALID_HANDLE : win32_error_of(errno));
  }
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFBLK: return make_disk_file(descriptor, overlapped);
    case S_IFIFO: {
      file* const made = overlapped ? stream::make(descriptor, stream::sort::pipe) : make_disk_file(descriptor, false);
      if (made != nullptr) {
        made->is_pipe = true;
      }
      return made;
    }
    case S_IFSOCK:
      return is_stream_socket(descriptor) ? stream::make(descriptor, stream::sort::socket)
                                          : fail<file*>(ERROR_NOT_SUPPORTED);
    case S_IFCHR:
      if (!overlapped || isatty(descriptor) == 0) {
        return make_disk_file(descriptor, overlapped);
      }
      return stream::make(descriptor, stream::sort::other);
    case S_IFDIR: return fail<file*>(ERROR_ACCESS_DENIED);
    default: return fail<file*>(ERROR_NOT_SUPPORTED);
  }
}

namespace {

constexpr DWORD known_flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_WRITE_THROUGH | FILE_FLAG_OVERLAPPED |
                              FILE_FLAG_NO_BUFFERING | FILE_FLAG_RANDOM_ACCESS | FILE_FLAG_SEQUENTIAL_SCAN;

/// Opens a file that is there, or makes one. `existed`: whether it was there. Returns -1 with errno set.
int open_or_make(const char* path, int flags, bool truncate, bool& existed) noexcept {
  constexpr mode_t permissions = 0666;
  for (;;) {
    const int fresh = open(path, flags | O_CREAT | O_EXCL, permissions);
    existed = fresh < 0 && errno == EEXIST;
    if (!existed) {
      return fresh;
    }
    const int old = open(path, flags | (truncate ? O_TRUNC : 0));
    if (old >= 0 || errno != ENOENT) {
      return old;
    }
    // It was removed in between.
  }
}

/// What is missing: the file, or a folder on the way to it.
DWORD error_of_missing(const char* path) {
  const std::string folder{path, std::string_view{path}.find_last_of('/') + 1};
  struct stat status;
  const bool has_folder = folder.empty() || (stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode));
  return has_folder ? ERROR_FILE_NOT_FOUND : ERROR_PATH_NOT_FOUND;
}

HANDLE create_file(const char* path, DWORD access, DWORD disposition, DWORD flags) {
  const auto refuse = [](DWORD error) { return fail(error, INVALID_HANDLE_VALUE); };
  const bool writes = (access & GENERIC_WRITE) != 0;
  const bool reads = (access & GENERIC_READ) != 0;
  if ((access & ~(GENERIC_READ | GENERIC_WRITE)) != 0 || (flags & ~known_flags) != 0 ||
      (disposition == TRUNCATE_EXISTING && !writes)) {
    return refuse(ERROR_INVALID_PARAMETER);
  }
  const bool overlapped = (flags & FILE_FLAG_OVERLAPPED) != 0;
  const int mode = (writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY) | O_CLOEXEC | O_NOCTTY |
                   (overlapped ? O_NONBLOCK : 0) | ((flags & FILE_FLAG_WRITE_THROUGH) != 0 ? O_DSYNC : 0) |
                   ((flags & FILE_FLAG_NO_BUFFERING) != 0 ? O_DIRECT : 0);
  bool existed = false;
  int descriptor = -1;
  switch (disposition) {
    case CREATE_NEW: descriptor = open(path, mode | O_CREAT | O_EXCL, 0666); break;
    case CREATE_ALWAYS: descriptor = open_or_make(path, mode, true, existed); break;
    case OPEN_ALWAYS: descriptor = open_or_make(path, mode, false, existed); break;
    case OPEN_EXISTING: descriptor = open(path, mode); break;
    case TRUNCATE_EXISTING: descriptor = open(path, mode | O_TRUNC); break;
    default: return refuse(ERROR_INVALID_PARAMETER);
  }
  if (descriptor < 0) {
    return refuse(errno == ENOENT ? error_of_missing(path) : win32_error_of(errno));
  }
  file* const made = make_file(descriptor, overlapped);
  if (made == nullptr) {
    close(descriptor);
    return INVALID_HANDLE_VALUE;
  }
  const int advice = (flags & FILE_FLAG_RANDOM_ACCESS) != 0     ? POSIX_FADV_RANDOM
                     : (flags & FILE_FLAG_SEQUENTIAL_SCAN) != 0 ? POSIX_FADV_SEQUENTIAL
                                                                : POSIX_FADV_NORMAL;
  if (advice != POSIX_FADV_NORMAL) {
    posix_fadvise(descriptor, 0, 0, advice);
  }
  const HANDLE handle = open_file_object(*made);
  if (handle == nullptr) {
    close(descriptor);
    return INVALID_HANDLE_VALUE;
  }
  SetLastError(existed ? ERROR_ALREADY_EXISTS : ERROR_SUCCESS);
  return handle;
}

/// False when the text is no UTF-16.
bool append_utf8(std::string& to, const WCHAR* text) {
  for (; *text != 0; ++text) {
    std::uint32_t code = *text;
    if (code >= 0xD800 && code < 0xE000) {
      const std::uint32_t low = text[1];
      if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000) {
        return false;
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      ++text;
    }
    const auto add = [&to](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xC0 | code >> 6);
      add(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      add(0xE0 | code >> 12);
      add(0x80 | (code >> 6 & 0x3F));
      add(0x80 | (code & 0x3F));
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
      add(0x80 | (code >> 6 & 0x3F));
      add(0x80 | (code & 0x3F));
    }
  }
  return true;
}

}  // namespace

}  // namespace tidepool::engine

using namespace tidepool::engine;

HANDLE CreateFileA(LPCSTR path, DWORD access, DWORD /*sharing*/, LPSECURITY_ATTRIBUTES /*security*/, DWORD disposition,
                   DWORD flags, HANDLE /*model*/) noexcept {
  if (path == nullptr || *path == 0) {
    return fail(ERROR_PATH_NOT_FOUND, INVALID_HANDLE_VALUE);
  }
  try {
    return create_file(path, access, disposition, flags);
  } catch (const std::bad_alloc&) {
    return fail(ERROR_NOT_ENOUGH_MEMORY, INVALID_HANDLE_VALUE);
  }
}

HANDLE CreateFileW(LPCWSTR path, DWORD access, DWORD sharing, LPSECURITY_ATTRIBUTES security, DWORD disposition,
                   DWORD flags, HANDLE model) noexcept {
  try {
    std::string utf8;
    if (path != nullptr && !append_utf8(utf8, path)) {
      return fail(ERROR_INVALID_NAME, INVALID_HANDLE_VALUE);
    }
    return CreateFileA(utf8.c_str(), access, sharing, security, disposition, flags, model);
  } catch (const std::bad_alloc&) {
    return fail(ERROR_NOT_ENOUGH_MEMORY, INVALID_HANDLE_VALUE);
  }
}

HANDLE TidepoolOpenDescriptor(int descriptor) noexcept {
  file* const made = make_file(descriptor, true);
  return made != nullptr ? open_file_object(*made) : nullptr;
}
