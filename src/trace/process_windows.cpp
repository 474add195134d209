#ifdef _WIN32

#include <cstdlib>
#include <cstring>

#include "trace/process.hpp"
#include "win32.hpp"

namespace tidepool::recorder {

namespace {

std::string utf8(const wchar_t* text) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  if (size <= 1) {
    return {};
  }
  std::string result(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, -1, result.data(), size, nullptr, nullptr);
  result.pop_back();
  return result;
}

}  // namespace

std::uint32_t process_number() noexcept { return GetCurrentProcessId(); }

std::string program_name() {
  wchar_t name[4096];
  return GetModuleFileNameW(nullptr, name, 4096) != 0 ? utf8(name) : std::string();
}

std::string thread_name(std::uint32_t thread) {
  // Windows 10 1607 and later.
  using get_description = HRESULT(WINAPI*)(HANDLE, PWSTR*);
  get_description get = nullptr;
  const FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "GetThreadDescription");
  static_assert(sizeof found == sizeof get);
  std::memcpy(&get, &found, sizeof get);
  const HANDLE handle = get != nullptr ? OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, thread) : nullptr;
  if (handle == nullptr) {
    return {};
  }
  std::string name;
  PWSTR description = nullptr;
  if (get(handle, &description) >= 0 && description != nullptr) {
    name = utf8(description);
    LocalFree(description);
  }
  CloseHandle(handle);
  return name;
}

std::string text_at(std::uint64_t address) {
  std::string text;
  while (text.size() < 4096) {
    char byte = 0;
    if (!ReadProcessMemory(GetCurrentProcess(), reinterpret_cast<const void*>(address + text.size()), &byte, 1,
                           nullptr)) {
      return "?";
    }
    if (byte == '\0') {
      break;
    }
    text += byte;
  }
  return text;
}

std::string readable_type(const char* name) { return name; }

const char* environment_variable(const char* name) noexcept { return std::getenv(name); }

}  // namespace tidepool::recorder

#endif
