// The calling thread: its record, its number, and how it gives the processor away.
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "engine/blocking_region.hpp"
#include "engine/deadline.hpp"
#include "engine/thread_record.hpp"
#include "tidepool/win32/synchapi.h"

namespace tidepool::engine {

constinit thread_local thread_record thread_record::current_;

}  // namespace tidepool::engine

namespace {

using namespace tidepool::engine;

thread_local DWORD thread_number __attribute__((tls_model("initial-exec"))) = 0;

// After a fork the child's only thread has a new number.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { thread_number = 0; });

/// How often the kernel has switched away from this thread.
long context_switches() noexcept {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

}  // namespace

DWORD GetCurrentThreadId() noexcept {
  if (thread_number == 0) {
    thread_number = static_cast<DWORD>(gettid());
  }
  return thread_number;
}

BOOL SwitchToThread() noexcept {
  const long before = context_switches();
  sched_yield();
  return context_switches() != before;
}

VOID Sleep(DWORD milliseconds) noexcept {
  if (milliseconds == 0) {
    sched_yield();
    return;
  }
  const blocking_region region;
  const deadline end{milliseconds};
  if (end.is_never()) {
    for (;;) {
      pause();
    }
  }
  const timespec moment = end.moment();
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) == EINTR) {
  }
}
