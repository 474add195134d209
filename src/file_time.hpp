// The native form of a due time.
#pragma once

#include "tidepool/detail/due_time.hpp"
#include "win32.hpp"

namespace tidepool {

[[nodiscard]] inline FILETIME file_time(detail::due_time due) noexcept {
  const auto bits = static_cast<std::uint64_t>(due);
  return {static_cast<DWORD>(bits), static_cast<DWORD>(bits >> 32)};
}

}  // namespace tidepool
