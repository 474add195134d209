// Records what happens, when somebody has asked for it. docs/design/trace.md says how.
#pragma once

#include <cstdint>

#include "trace/events.hpp"

#ifdef TIDEPOOL_TRACE
#include <atomic>
#endif

// What is only run while something is recorded.
#ifdef __GNUC__
#define TIDEPOOL_COLD [[gnu::cold, gnu::noinline]]
#else
#define TIDEPOOL_COLD
#endif

namespace tidepool::recorder {

#ifdef TIDEPOOL_TRACE

/// The categories that are on. Relaxed: nothing is published by it.
extern constinit std::atomic<std::uint32_t> enabled
#ifdef TIDEPOOL_STATIC
    __attribute__((visibility("hidden")))  // so that it is found without a table
#endif
    ;

/// Makes a record on the calling thread. Wait-free; changes neither errno nor the last error.
void write(kind what, action which, const void* target, std::uint64_t first, std::uint64_t second) noexcept;
/// The same, on a thread that is not to have a segment of its own. Allocates nothing.
void write_shared(kind what, action which, const void* target, std::uint64_t first, std::uint64_t second) noexcept;

/// Writes what has been recorded to where TIDEPOOL_TRACE_FILE asks for, once, if it does. For the end of the process.
void write_at_end() noexcept;

[[nodiscard]] inline bool is_on(std::uint32_t categories) noexcept {
  return (enabled.load(std::memory_order_relaxed) & categories) != 0;
}

#else

[[nodiscard]] constexpr bool is_on(std::uint32_t) noexcept { return false; }
inline void write(kind, action, const void*, std::uint64_t, std::uint64_t) noexcept {}
inline void write_at_end() noexcept {}

#endif

/// Makes a record if one of its categories is on. Costs a load, a test and a branch when none is.
template <kind What, action Which>
void note(const void* target, std::uint64_t first = 0, std::uint64_t second = 0) noexcept {
  if (is_on(categories_of(What, Which))) [[unlikely]] {
    write(What, Which, target, first, second);
  }
}

}  // namespace tidepool::recorder
