#include "tidepool/error.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "win32.hpp"

namespace tidepool {

namespace {

struct known_error {
  int code;               // Microsoft's value
  std::errc condition;    // its counterpart; zero when there is none
  std::string_view text;  // for systems that have no texts of their own
};

constexpr std::errc no_counterpart{};

// In the order of the codes. Written out as numbers, since the names of some exist on one platform only.
constexpr known_error known_errors[] = {
    {0, no_counterpart, "success"},
    {1, std::errc::function_not_supported, "incorrect function"},
    {2, std::errc::no_such_file_or_directory, "file not found"},
    {3, std::errc::no_such_file_or_directory, "path not found"},
    {4, std::errc::too_many_files_open, "too many open files"},
    {5, std::errc::permission_denied, "access denied"},
    {6, no_counterpart, "invalid handle"},
    {8, std::errc::not_enough_memory, "not enough memory"},
    {14, std::errc::not_enough_memory, "out of memory"},
    {19, std::errc::read_only_file_system, "write-protected"},
    {32, std::errc::permission_denied, "in use by another process"},
    {33, std::errc::no_lock_available, "part of the file is locked"},
    {38, no_counterpart, "end of file"},
    {50, std::errc::not_supported, "not supported"},
    {64, std::errc::connection_reset, "connection reset by the peer"},
    {80, std::errc::file_exists, "file exists"},
    {87, std::errc::invalid_argument, "invalid parameter"},
    {100, std::errc::resource_unavailable_try_again, "too many semaphores"},
    {109, std::errc::broken_pipe, "broken pipe"},
    {112, std::errc::no_space_on_device, "disk full"},
    {120, std::errc::function_not_supported, "not implemented"},
    {121, std::errc::timed_out, "semaphore time-out"},
    {123, std::errc::invalid_argument, "invalid file name"},
    {126, no_counterpart, "module not found"},
    {127, no_counterpart, "procedure not found"},
    {145, std::errc::directory_not_empty, "directory not empty"},
    {164, std::errc::resource_unavailable_try_again, "no more threads can be created"},
    {170, std::errc::device_or_resource_busy, "resource in use"},
    {183, std::errc::file_exists, "already exists"},
    {206, std::errc::filename_too_long, "file name too long"},
    {223, std::errc::file_too_large, "file too large"},
    {232, std::errc::broken_pipe, "nobody reads from the pipe or socket any more"},
    {233, std::errc::broken_pipe, "no process at the other end of the pipe"},
    {258, std::errc::timed_out, "wait timed out"},
    {288, std::errc::operation_not_permitted, "not the owner of the mutex"},
    {298, no_counterpart, "semaphore count too high"},
    {995, std::errc::operation_canceled, "operation aborted"},
    {996, no_counterpart, "overlapped request not complete"},
    {997, std::errc::operation_in_progress, "operation in progress"},
    {998, std::errc::bad_address, "invalid address"},
    {1117, std::errc::io_error, "device error"},
    {1131, std::errc::resource_deadlock_would_occur, "possible deadlock"},
    {1168, no_counterpart, "not found"},
    {1223, std::errc::operation_canceled, "cancelled"},
    {1225, std::errc::connection_refused, "connection refused"},
    {1227, std::errc::address_in_use, "address already associated"},
    {1231, std::errc::network_unreachable, "network unreachable"},
    {1232, std::errc::host_unreachable, "host unreachable"},
    {1236, std::errc::connection_aborted, "connection aborted"},
    {1450, std::errc::resource_unavailable_try_again, "not enough system resources"},
    {1455, std::errc::not_enough_memory, "paging file too small"},
    {1460, std::errc::timed_out, "time-out"},
    {1656, no_counterpart, "not the same object"},
    {4317, std::errc::operation_not_permitted, "invalid operation"},
    {10013, std::errc::permission_denied, "access to the address denied"},
    {10048, std::errc::address_in_use, "address in use"},
    {10049, std::errc::address_not_available, "address not available"},
    {10056, std::errc::already_connected, "already connected"},
    {10057, std::errc::not_connected, "not connected"},
    {10058, std::errc::broken_pipe, "sending has been shut down"},
};

constexpr bool lower_code(const known_error& left, const known_error& right) { return left.code < right.code; }
static_assert(std::is_sorted(std::begin(known_errors), std::end(known_errors), lower_code));

const known_error* find(int code) noexcept {
  const auto* const found = std::lower_bound(std::begin(known_errors), std::end(known_errors),
                                             known_error{code, no_counterpart, {}}, lower_code);
  return found != std::end(known_errors) && found->code == code ? found : nullptr;
}

#ifdef _WIN32
/// The system's text, in UTF-8; empty when it has none.
std::string system_text(int code) {
  wchar_t wide[512];
  DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                static_cast<DWORD>(code), 0, wide, static_cast<DWORD>(std::size(wide)), nullptr);
  while (length != 0 && (wide[length - 1] <= L' ' || wide[length - 1] == L'.')) {
    --length;
  }
  char narrow[4 * std::size(wide)];
  const int size = WideCharToMultiByte(CP_UTF8, 0, wide, static_cast<int>(length), narrow,
                                       static_cast<int>(sizeof narrow), nullptr, nullptr);
  return {narrow, static_cast<std::size_t>(size)};
}
#else
std::string system_text(int) { return {}; }
#endif

class category final : public std::error_category {
 public:
  constexpr category() noexcept = default;

  const char* name() const noexcept override { return "win32"; }

  std::string message(int code) const override {
    if (std::string text = system_text(code); !text.empty()) {
      return text;
    }
    const known_error* const known = find(code);
    return known != nullptr ? std::string(known->text) : "Win32 error " + std::to_string(static_cast<unsigned>(code));
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    const known_error* const known = find(code);
    return known != nullptr && known->condition != no_counterpart ? std::make_error_condition(known->condition)
                                                                  : std::error_condition(code, *this);
  }
};

/// Constant-initialised and never destroyed.
union immortal_category {
  constexpr immortal_category() noexcept : value() {}
  ~immortal_category() {}
  category value;
};
constinit const immortal_category the_category;

}  // namespace

const std::error_category& win32_category() noexcept { return the_category.value; }

}  // namespace tidepool
