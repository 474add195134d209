#pragma once

#include "trace/buffer.hpp"
#include "win32.hpp"

namespace tidepool::recorder {

[[nodiscard]] segment* own_segment() noexcept;

/// Fiber-local storage sets it as it reads.
class keep_last_error {
 public:
  keep_last_error() noexcept : error_(GetLastError()) {}
  keep_last_error(const keep_last_error&) = delete;
  keep_last_error& operator=(const keep_last_error&) = delete;
  ~keep_last_error() { SetLastError(error_); }

 private:
  const DWORD error_;
};

}  // namespace tidepool::recorder
