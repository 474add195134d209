// Failed native calls as exceptions.
#pragma once

#include <cstdint>
#include <system_error>

#include "tidepool/error.hpp"
#include "win32.hpp"

namespace tidepool {

[[nodiscard]] inline std::error_code win32_error(std::uint32_t code) noexcept {
  return {static_cast<int>(code), win32_category()};
}

/// `what`: the Win32 function that failed.
[[noreturn]] inline void throw_last_error(const char* what) {
  throw std::system_error(win32_error(GetLastError()), what);
}

}  // namespace tidepool
