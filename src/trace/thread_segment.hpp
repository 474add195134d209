// The segment that the calling thread fills. The header for the system has own_segment(), which is null before the thread's
// first record and while it ends, and keep_last_error, a guard for what a record may not change.
#pragma once

#include <cstdint>

#include "trace/buffer.hpp"

#ifndef _WIN32
#include "trace/thread_segment_posix.hpp"
#else
#include "trace/thread_segment_windows.hpp"
#endif

namespace tidepool::recorder {

/// To be called before the first record.
void prepare_threads() noexcept;

/// Gives up `full`, which may be null, and takes another. Null while the thread ends, and if there is none.
[[nodiscard]] segment* next_own_segment(segment* full) noexcept;

/// The system's number of the calling thread.
[[nodiscard]] std::uint32_t this_thread() noexcept;

}  // namespace tidepool::recorder
