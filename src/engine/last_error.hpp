// How a Win32 function reports a failure.
#pragma once

#include "tidepool/win32/errhandlingapi.h"
#include "tidepool/win32/winerror.h"

namespace tidepool::engine {

/// Leaves `code` as the thread's last error and hands back what the failing function is to return.
template <class Result = BOOL>
[[nodiscard]] Result fail(DWORD code, Result result = Result{}) noexcept {
  SetLastError(code);
  return result;
}

}  // namespace tidepool::engine
