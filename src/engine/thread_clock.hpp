// What the system knows about another thread of this process.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tidepool::engine {

/// Monotonic time in nanoseconds.
std::int64_t monotonic_now() noexcept;

/// Processor time the thread has used, in nanoseconds; -1 when it is gone.
std::int64_t cpu_time_of(pid_t thread) noexcept;

/// Whether the thread is asleep, as opposed to running or waiting for a processor.
bool is_asleep(pid_t thread) noexcept;

}  // namespace tidepool::engine
