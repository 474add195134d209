// The end of the process, for mistakes that must not go on.
#pragma once

#include <source_location>

namespace tidepool {

/// Writes "tidepool: <message>" to the standard error stream and aborts. Allocates nothing.
[[noreturn]] void fail_fast(const char* message) noexcept;

/// Writes "tidepool: the <kind> created at <file>:<line> (<function>) <what happened>".
[[noreturn]] void fail_fast(const char* kind, const std::source_location& created_at,
                            const char* what_happened) noexcept;

/// For an operation on an object that has been moved from.
template <class Pointer>
void require_not_moved_from(const Pointer& held, const char* message) noexcept {
  if (held == nullptr) [[unlikely]] {
    fail_fast(message);
  }
}

}  // namespace tidepool
