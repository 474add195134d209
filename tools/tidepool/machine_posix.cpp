// The machine as Linux tells of it.
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "control_groups_posix.hpp"
#include "machine.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tool {
namespace {

using tidepool::observation;

template <class T>
observation<T> refused(const std::string& what) {
  return observation<T>::unavailable(what + ": " + std::strerror(errno));
}

std::string contents(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

template <class T>
observation<T> first_word(const char* path) {
  std::ifstream file{path};
  if (T value{}; file >> value) return value;
  return observation<T>::unavailable(std::string{path} + " cannot be read");
}

/// PRETTY_NAME of os-release(5), whose value may be quoted.
std::string distribution() {
  std::ifstream file{"/etc/os-release"};
  constexpr std::string_view key = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    line.erase(0, key.size());
    std::erase(line, '"');
    return line;
  }
  return "Linux";
}

observation<std::uint32_t> allowed_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return refused<std::uint32_t>("sched_getaffinity");
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

limit limit_from(rlim_t value) { return value == RLIM_INFINITY ? limit{} : limit{value}; }

struct resource_limits {
  observation<limit> soft;
  observation<limit> hard;
};

template <class Resource>
resource_limits limits_of(Resource resource) {
  rlimit native{};
  if (getrlimit(resource, &native) != 0) return {refused<limit>("getrlimit"), refused<limit>("getrlimit")};
  return {limit_from(native.rlim_cur), limit_from(native.rlim_max)};
}

/// There are as many threads as numbers for them, at most.
observation<limit> threads_of_system() {
  const auto most = first_word<std::uint64_t>("/proc/sys/kernel/threads-max");
  const auto numbers = first_word<std::uint64_t>("/proc/sys/kernel/pid_max");
  if (!most) return observation<limit>::unavailable(most.why_not());
  return limit{std::min(*most, numbers.value_or(*most))};
}

request_path requests() {
  request_path result;
  const char* const asked = std::getenv("TIDEPOOL_IO");
  if (asked != nullptr) result.asked_for = asked;
  result.taken = TidepoolIoPath() == TidepoolIoUring ? "io_uring" : "portable";
  const int error = TidepoolIoUringError();
  result.io_uring_error = error;
  result.io_uring_says = std::string{error == 0 ? "available" : std::strerror(error)};
  result.io_uring_disabled = first_word<int>("/proc/sys/kernel/io_uring_disabled");
  return result;
}

}  // namespace

machine look_at_machine() {
  machine result;
  utsname names{};
  if (uname(&names) == 0) {
    result.kernel = std::string{names.sysname} + " " + names.release;
    result.architecture = names.machine;
  }
  result.system = distribution();
  result.online_processors = static_cast<std::uint32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  result.allowed_processors = allowed_processors();
  const control_group_limits group = read_control_group_limits(contents("/proc/self/cgroup"), "/sys/fs/cgroup");
  result.processors_of_group = group.processors;
  result.threads_of_group = group.tasks;
  const resource_limits files = limits_of(RLIMIT_NOFILE);
  result.open_files = files.soft;
  result.most_open_files = files.hard;
  result.threads_of_user = limits_of(RLIMIT_NPROC).soft;
  result.threads_of_system = threads_of_system();
  result.locked_memory = limits_of(RLIMIT_MEMLOCK).soft;
  result.requests = requests();
  result.clock_source = first_word<std::string>("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return result;
}

}  // namespace tool
