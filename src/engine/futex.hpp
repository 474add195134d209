// The futex system call, private to the process.
#pragma once

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tidepool::engine {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Sleeps while `word` holds `expected`, at most for `timeout` (monotonic; null: for ever). May wake for no
/// reason: callers loop. Returns false only when the time-out passed.
inline bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       const timespec* timeout = nullptr) noexcept {
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

/// Wakes at most `count` threads that sleep on `word`. The word itself need not exist any more: the kernel
/// only looks up its address.
inline void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// Tells the processor that this is a spin loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

}  // namespace tidepool::engine
