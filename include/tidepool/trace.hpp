// What the library does, written down: see docs/reference/trace.md.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tidepool::trace {

/// What is recorded. Categories are combined with `|`. A record belongs to its object's category, and for some events to a
/// second one; it is made when either is on.
enum class category : std::uint32_t {
  none = 0,
  work = 1 << 0,        // work, and one-off submissions
  timer = 1 << 1,       // timers and periodic timers
  wait = 1 << 2,        // waits
  io = 1 << 3,          // I/O
  group = 1 << 4,       // cleanup groups
  pool = 1 << 5,        // pools, and on Linux their threads
  event = 1 << 6,       // events
  delivery = 1 << 7,    // the beginning and the end of every callback
  rearm = 1 << 8,       // what callbacks do to be called again
  teardown = 1 << 9,    // drains and destructions
  syscall = 1 << 10,    // every call of the native thread pool that can block or take a lock
  exception = 1 << 11,  // exceptions that are thrown
  report = 1 << 12,     // what a developer should know
  all = (1 << 13) - 1,
};

[[nodiscard]] constexpr category operator|(category a, category b) noexcept {
  return static_cast<category>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr category operator&(category a, category b) noexcept {
  return static_cast<category>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}

/// Whether the library can record at all. It can not when it was built with TIDEPOOL_TRACE off; then nothing is ever enabled.
[[nodiscard]] bool is_available() noexcept;

/// Records these categories from now on, and no others: enable(category::none) stops. What has been recorded stays. The
/// environment variable TIDEPOOL_TRACE does the same before main.
///
/// Thread safety: any thread at any time; threads that record meanwhile may go by what was enabled before for a moment.
/// Cost: some microseconds the first time. While nothing is enabled a recording site costs three instructions; a record
/// costs less than two clock reads, and no thread waits for another. The records take 2.7 MB, which are touched as they are
/// used. The library that this is in, if it is in one, stays loaded from then on.
/// Errors: std::bad_alloc, the first time.
void enable(category categories);

/// What is enabled.
[[nodiscard]] category enabled() noexcept;

/// Writes the last records, up to 65,536, as a capture, which is a text file: `tidepool timeline` draws it. A file that is
/// there is replaced. The environment variable TIDEPOOL_TRACE_FILE does the same when the process ends.
///
/// Thread safety: any thread at any time, while others record.
/// Cost: some tens of milliseconds when the buffer is full.
/// Errors: std::system_error when the file can not be written, and (std::errc::not_supported) when the library can not
/// record; std::bad_alloc.
void write(const std::filesystem::path& file);

}  // namespace tidepool::trace
