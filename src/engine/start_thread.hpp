// Making the engine's threads.
#pragma once

#include <cstddef>

namespace tidepool::engine {

/// Starts a detached thread that no signal of the program is delivered to. `stack`: its size in bytes, or the
/// default if the system does not give that much. False when there can be no thread.
bool start_thread(void* (*main)(void*), void* argument, std::size_t stack) noexcept;

}  // namespace tidepool::engine
