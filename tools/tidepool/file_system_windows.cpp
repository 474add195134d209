#include <windows.h>

#include <memory>
#include <utility>

#include "file_system.hpp"
#include "tidepool/error.hpp"
#include "tidepool/unsafe.hpp"
#include "windows_text.hpp"

namespace tool {
namespace {

constexpr DWORD share_everything = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

std::error_code last_error() { return {static_cast<int>(GetLastError()), tidepool::win32_category()}; }

bool leads_elsewhere(DWORD attributes, DWORD reparse_tag) noexcept {
  return (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         (reparse_tag == IO_REPARSE_TAG_SYMLINK || reparse_tag == IO_REPARSE_TAG_MOUNT_POINT);
}

std::uint64_t joined(DWORD high, DWORD low) noexcept { return (std::uint64_t{high} << 32) | low; }

struct close_handle {
  using pointer = HANDLE;
  void operator()(HANDLE handle) const noexcept {
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
  }
};
using owned_handle = std::unique_ptr<HANDLE, close_handle>;

struct close_find {
  using pointer = HANDLE;
  void operator()(HANDLE handle) const noexcept {
    if (handle != INVALID_HANDLE_VALUE) FindClose(handle);
  }
};

HANDLE open_handle(const std::string& path, DWORD rights, DWORD flags) {
  return CreateFileW(native_path(path).c_str(), rights, share_everything, nullptr, OPEN_EXISTING,
                     flags | FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

struct handle_information {
  file_status status;
  file_identity identity;
};

handle_information information_of(HANDLE handle, std::error_code& error) {
  error.clear();
  handle_information result;
  switch (GetFileType(handle)) {
    case FILE_TYPE_DISK: break;
    case FILE_TYPE_CHAR: result.status.kind = file_kind::character_device; return result;
    case FILE_TYPE_PIPE: result.status.kind = file_kind::fifo; return result;
    default: return result;
  }
  BY_HANDLE_FILE_INFORMATION information;
  if (!GetFileInformationByHandle(handle, &information)) {
    error = last_error();
    return result;
  }
  const bool folder = (information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  result.status.kind = folder ? file_kind::folder : file_kind::regular;
  result.status.size = joined(information.nFileSizeHigh, information.nFileSizeLow);
  result.identity = {information.dwVolumeSerialNumber, joined(information.nFileIndexHigh, information.nFileIndexLow)};
  return result;
}

}  // namespace

file_status status_of(const std::string& path, std::error_code& error) {
  const owned_handle handle{open_handle(path, FILE_READ_ATTRIBUTES, 0)};
  if (handle.get() == INVALID_HANDLE_VALUE) {
    error = last_error();
    return {};
  }
  return information_of(handle.get(), error).status;
}

bool is_link(const std::string& path) {
  WIN32_FIND_DATAW found;
  const std::unique_ptr<HANDLE, close_find> search{FindFirstFileW(native_path(path).c_str(), &found)};
  return search.get() != INVALID_HANDLE_VALUE && leads_elsewhere(found.dwFileAttributes, found.dwReserved0);
}

std::string link_target(const std::string&) { return {}; }

folder_listing read_folder(const std::string& path, std::error_code& error) {
  folder_listing listing;
  {
    const owned_handle folder{open_handle(path, FILE_READ_ATTRIBUTES, 0)};
    if (folder.get() == INVALID_HANDLE_VALUE) {
      error = last_error();
      return listing;
    }
    listing.identity = information_of(folder.get(), error).identity;
    if (error) return listing;
  }
  const std::string pattern = path.ends_with('/') ? path + "*" : path + "/*";
  WIN32_FIND_DATAW found;
  const std::unique_ptr<HANDLE, close_find> search{FindFirstFileW(native_path(pattern).c_str(), &found)};
  if (search.get() == INVALID_HANDLE_VALUE) {
    if (GetLastError() != ERROR_FILE_NOT_FOUND) error = last_error();  // the root of an empty drive has not even "."
    return listing;
  }
  do {
    folder_entry entry;
    entry.name = to_utf8(found.cFileName);
    if (entry.name == "." || entry.name == "..") continue;
    const bool folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    entry.kind = folder ? file_kind::folder : file_kind::regular;
    entry.link = leads_elsewhere(found.dwFileAttributes, found.dwReserved0);
    if (entry.link) {
      std::error_code ignored;
      entry.kind = status_of(path + "/" + entry.name, ignored).kind;
      entry.unresolved = static_cast<bool>(ignored);
    }
    listing.entries.push_back(std::move(entry));
  } while (FindNextFileW(search.get(), &found));
  if (GetLastError() != ERROR_NO_MORE_FILES) error = last_error();
  return listing;
}

input_file input_file::open(const std::string& path, std::error_code& error) {
  input_file file;
  const HANDLE handle = open_handle(path, GENERIC_READ, FILE_FLAG_SEQUENTIAL_SCAN);
  if (handle == INVALID_HANDLE_VALUE) {
    error = last_error();
    return file;
  }
  file.handle_ = reinterpret_cast<std::intptr_t>(handle);
  file.owned_ = true;
  const handle_information information = information_of(handle, error);
  file.status_ = information.status;
  file.identity_ = information.identity;
  return file;
}

input_file input_file::standard_input() noexcept {
  input_file file;
  file.handle_ = reinterpret_cast<std::intptr_t>(GetStdHandle(STD_INPUT_HANDLE));
  return file;
}

std::size_t input_file::read(std::span<std::byte> buffer, std::error_code& error) {
  error.clear();
  DWORD count = 0;
  const auto wanted = static_cast<DWORD>(buffer.size());
  if (!ReadFile(reinterpret_cast<HANDLE>(handle_), buffer.data(), wanted, &count, nullptr)) {
    const DWORD code = GetLastError();  // a pipe ends with its last writer
    if (code != ERROR_BROKEN_PIPE && code != ERROR_HANDLE_EOF) error = last_error();
    return 0;
  }
  return count;
}

tidepool::endpoint input_file::for_overlapped_use() const {
  const HANDLE again = ReOpenFile(reinterpret_cast<HANDLE>(handle_), GENERIC_READ,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, FILE_FLAG_OVERLAPPED);
  if (again == INVALID_HANDLE_VALUE) throw std::system_error{last_error(), "ReOpenFile"};
  try {
    return tidepool::unsafe::adopt_handle(again, tidepool::endpoint_kind::file);
  } catch (...) {
    CloseHandle(again);
    throw;
  }
}

bool input_file::wait_readable(int) noexcept { return true; }

void input_file::close() noexcept {
  if (owned_) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

}  // namespace tool
