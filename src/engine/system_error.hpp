// Errors of the system in Win32's terms.
#pragma once

#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

/// The Win32 error code for an errno value. ERROR_IO_DEVICE for what has none.
[[nodiscard]] DWORD win32_error_of(int error) noexcept;

}  // namespace tidepool::engine
