#include <windows.h>

#include <algorithm>

#include "output_file.hpp"
#include "tidepool/error.hpp"
#include "windows_text.hpp"

namespace tool {
namespace {

constexpr std::size_t largest_write = 1 << 20;

std::error_code last_error() { return {static_cast<int>(GetLastError()), tidepool::win32_category()}; }

std::error_code write_and_close(HANDLE file, std::string_view text, bool flush) {
  std::error_code error;
  while (!text.empty() && !error) {
    DWORD count = 0;
    if (WriteFile(file, text.data(), static_cast<DWORD>(std::min(text.size(), largest_write)), &count, nullptr)) {
      text.remove_prefix(count);
    } else {
      error = last_error();
    }
  }
  if (!error && flush && !FlushFileBuffers(file)) error = last_error();
  CloseHandle(file);
  return error;
}

HANDLE open_for_writing(const std::wstring& path, DWORD disposition) {
  return CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, disposition, FILE_ATTRIBUTE_NORMAL,
                     nullptr);
}

/// The file itself when the path leads to one through links.
std::wstring resolved(HANDLE file, std::wstring path) {
  std::wstring found(GetFinalPathNameByHandleW(file, nullptr, 0, FILE_NAME_NORMALIZED), L'\0');
  const DWORD length =
      GetFinalPathNameByHandleW(file, found.data(), static_cast<DWORD>(found.size()), FILE_NAME_NORMALIZED);
  if (length == 0 || length >= found.size()) return path;
  found.resize(length);
  return found;
}

}  // namespace

std::error_code replace_file(const std::string& path, std::string_view text) {
  std::wstring target = native_path(path);
  const HANDLE there = open_for_writing(target, OPEN_EXISTING);
  if (there != INVALID_HANDLE_VALUE) {
    if (GetFileType(there) != FILE_TYPE_DISK) return write_and_close(there, text, false);
    target = resolved(there, target);
    CloseHandle(there);
  } else if (GetLastError() != ERROR_FILE_NOT_FOUND) {
    return last_error();
  }

  const std::wstring part = target + L"." + std::to_wstring(GetCurrentProcessId()) + L".part";
  const HANDLE file = open_for_writing(part, CREATE_NEW);
  if (file == INVALID_HANDLE_VALUE) return last_error();
  std::error_code error = write_and_close(file, text, true);
  if (!error && !MoveFileExW(part.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING)) error = last_error();
  if (error) DeleteFileW(part.c_str());
  return error;
}

}  // namespace tool
