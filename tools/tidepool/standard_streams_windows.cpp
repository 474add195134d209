#include <windows.h>

#include <algorithm>
#include <cstdlib>

#include "standard_streams.hpp"
#include "tidepool/error.hpp"
#include "windows_text.hpp"

namespace tool {
namespace {

HANDLE handle_of(output_stream stream) noexcept {
  return GetStdHandle(stream == output_stream::out ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

std::error_code last_error() { return {static_cast<int>(GetLastError()), tidepool::win32_category()}; }

}  // namespace

void prepare_standard_streams() {}

std::error_code write_all(output_stream stream, std::string_view text) {
  const HANDLE handle = handle_of(stream);
  if (is_terminal(stream)) {  // the console takes characters; bytes it would read in its own code page
    const std::wstring wide = to_utf16(text);
    for (std::size_t done = 0; done < wide.size();) {
      DWORD count = 0;
      const auto wanted = static_cast<DWORD>(std::min<std::size_t>(wide.size() - done, 8192));
      if (!WriteConsoleW(handle, wide.data() + done, wanted, &count, nullptr)) return last_error();
      done += count;
    }
    return {};
  }
  while (!text.empty()) {
    DWORD count = 0;
    const auto wanted = static_cast<DWORD>(std::min<std::size_t>(text.size(), 1u << 20));
    if (!WriteFile(handle, text.data(), wanted, &count, nullptr)) return last_error();
    text.remove_prefix(count);
  }
  return {};
}

bool is_terminal(output_stream stream) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(stream), &mode) != 0;
}

int terminal_width() {
  CONSOLE_SCREEN_BUFFER_INFO information;
  if (!GetConsoleScreenBufferInfo(handle_of(output_stream::err), &information)) return 80;
  return information.srWindow.Right - information.srWindow.Left + 1;
}

std::optional<file_identity> regular_file_behind(output_stream stream) {
  BY_HANDLE_FILE_INFORMATION information;
  const HANDLE handle = handle_of(stream);
  if (GetFileType(handle) != FILE_TYPE_DISK || !GetFileInformationByHandle(handle, &information)) return std::nullopt;
  return file_identity{information.dwVolumeSerialNumber,
                       (std::uint64_t{information.nFileIndexHigh} << 32) | information.nFileIndexLow};
}

bool is_broken_pipe(std::error_code error) {
  return error.value() == ERROR_NO_DATA || error.value() == ERROR_BROKEN_PIPE ||
         error.value() == ERROR_PIPE_NOT_CONNECTED;
}

void end_by_broken_pipe() { std::_Exit(1); }

}  // namespace tool
