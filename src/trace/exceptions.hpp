// Records of exceptions, also those that somebody catches.
#pragma once

#include <cstdint>

#include "trace/events.hpp"

namespace tidepool::recorder {

/// Makes a record from within the throwing of an exception: allocates nothing and waits for nothing. While the calling
/// thread is making a record itself, the exception counts as lost.
void write_exception(action which, const void* target, std::uint64_t first, std::uint64_t second) noexcept;

/// To be called before the first record: sees to it that exceptions are observed. On Linux that is up to the program, which
/// links tidepool::exception_observer for it.
void observe_exceptions() noexcept;

/// Whether they are.
[[nodiscard]] bool exceptions_are_observed() noexcept;

/// For the observer.
void announce_observer() noexcept;

}  // namespace tidepool::recorder
