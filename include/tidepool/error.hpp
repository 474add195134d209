// Win32 error codes as std::error_code.
#pragma once

#include <system_error>

namespace tidepool {

/// The category of Win32 error codes, on both platforms. Every std::system_error that tidepool throws for a failed
/// native call carries it; `error.code().value()` is what GetLastError() returned.
///
/// Codes with a counterpart in std::errc compare equal to it: `error.code() == std::errc::not_enough_memory`. On
/// Windows the messages are the system's (FormatMessage), on Linux tidepool's own.
///
/// Any thread may use it at any time, also before main() and after it.
[[nodiscard]] const std::error_category& win32_category() noexcept;

}  // namespace tidepool
