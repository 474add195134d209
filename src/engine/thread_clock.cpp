#include "engine/thread_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

namespace tidepool::engine {

namespace {

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t monotonic_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return nanoseconds(now);
}

std::int64_t cpu_time_of(pid_t thread) noexcept {
  // The kernel's encoding of "processor time of thread N"; pthread_getcpuclockid() computes the same but may
  // only be asked about a thread that is known to exist.
  constexpr clockid_t per_thread_scheduler_time = 6;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3) | per_thread_scheduler_time;
  timespec used{};
  return clock_gettime(clock, &used) == 0 ? nanoseconds(used) : -1;
}

bool is_asleep(pid_t thread) noexcept {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return true;  // no /proc here: all that is known is that it uses no processor
  }
  char text[128];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) {
    return true;
  }
  text[length] = '\0';
  const char* const after_name = std::strrchr(text, ')');  // the name may hold anything, also parentheses
  return after_name != nullptr && after_name[1] == ' ' && after_name[2] != 'R';
}

}  // namespace tidepool::engine
