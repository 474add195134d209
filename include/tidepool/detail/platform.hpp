// Where the platforms differ in what the safe layer has to do.
#pragma once

#include <cstddef>

namespace tidepool::detail {

/// Whether a pool that has been closed goes on until its queue is empty. Microsoft documents it for objects and says
/// nothing about one-off callbacks; Wine does not bear it.
#ifdef _WIN32
inline constexpr bool closed_pool_runs_one_offs = false;
#else
inline constexpr bool closed_pool_runs_one_offs = true;
#endif

/// Whether small closures can be queued as they are, instead of a pointer to them.
#ifdef _WIN32
inline constexpr bool closures_in_queue = false;
#else
inline constexpr bool closures_in_queue = true;
#endif

/// sizeof(OVERLAPPED), which every request begins with.
inline constexpr std::size_t overlapped_size = sizeof(void*) == 8 ? 32 : 20;

/// Whether pipes take a buffer in several parts. Where they do not, the parts are copied to and from one.
#ifdef _WIN32
inline constexpr bool pipes_take_parts = false;
#else
inline constexpr bool pipes_take_parts = true;
#endif

/// What the system wants to be given for an accept: a place for two addresses.
#ifdef _WIN32
inline constexpr std::size_t accept_scratch_size = 96;
#else
inline constexpr std::size_t accept_scratch_size = 1;
#endif

}  // namespace tidepool::detail
