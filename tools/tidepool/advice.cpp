#include "advice.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "sum_line.hpp"

namespace tool {
namespace {

constexpr std::uint64_t few_open_files = 1024;
constexpr double slow_clock_ns = 1000;
constexpr double late_timer_us = 20'000;  // Windows' own timers go in steps of 16 ms

using warnings = std::vector<report::warning>;

report::warning why_no_io_uring(int error, const tidepool::observation<int>& disabled) {
  const std::string what = "io_uring cannot be used, so requests on files are carried out by threads that block: ";
  if (disabled.value_or(0) == 2) {
    return {"io_uring_disabled", what + "the sysctl kernel.io_uring_disabled is 2, which forbids it to everybody.",
            "As root: sysctl kernel.io_uring_disabled=0 (to keep it, in /etc/sysctl.d)."};
  }
  if (disabled.value_or(0) == 1) {
    return {"io_uring_disabled",
            what + "the sysctl kernel.io_uring_disabled is 1, which allows it to the group kernel.io_uring_group only.",
            "Add the user to that group, or as root: sysctl kernel.io_uring_disabled=0."};
  }
  switch (error) {
    case EPERM:
    case EACCES:
      return {"io_uring_refused",
              what + "a system call filter (seccomp), as containers have, or a security module forbids it.",
              "Allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile."};
    case ENOSYS:
      return {"io_uring_refused", what + "the kernel is built without it, or a system call filter (seccomp) hides it.",
              "In a container, allow io_uring_setup, io_uring_enter and io_uring_register in its seccomp profile."};
    case EOPNOTSUPP:
      return {"io_uring_too_old", what + "this kernel's is too old.", "Linux 5.11 and newer have what is needed."};
    case ENOMEM:
      return {"io_uring_memory", what + "there is not enough memory for it, or too little may be locked.",
              "Raise the limit of locked memory (ulimit -l), which kernels before 5.12 count it against."};
    case EMFILE:
    case ENFILE:
      return {"io_uring_refused", what + "there is no file descriptor left.",
              "Raise the limit of open files (ulimit -n)."};
    default:
      return {"io_uring_refused", fmt::format("{}the kernel says error {}.", what, error), "See io_uring_setup(2)."};
  }
}

void add_requests(warnings& found, const request_path& requests) {
  const bool unknown =
      requests.asked_for != "auto" && requests.asked_for != "uring" && requests.asked_for != "portable";
  if (unknown) {
    found.push_back(
        {"io_choice_unknown",
         fmt::format("TIDEPOOL_IO is '{}', which means nothing; it is taken for auto.", printable(requests.asked_for)),
         "Set it to auto, uring or portable, or not at all."});
  }
  if (!requests.io_uring_error) return;
  if (*requests.io_uring_error != 0) {
    found.push_back(why_no_io_uring(*requests.io_uring_error, requests.io_uring_disabled));
    if (requests.asked_for == "uring") {
      found.push_back(
          {"io_choice_impossible",
           "TIDEPOOL_IO is 'uring', and there is no io_uring: no file can be opened for overlapped requests.",
           "Unset TIDEPOOL_IO, or set it to auto."});
    }
  } else if (requests.asked_for == "portable") {
    found.push_back({"io_choice_slow",
                     "TIDEPOOL_IO is 'portable', so requests on files are carried out by threads that block, although "
                     "io_uring is available.",
                     "Unset TIDEPOOL_IO, or set it to auto."});
  }
}

void add_limits(warnings& found, const machine& here, std::uint32_t most_threads) {
  const limit files = here.open_files.value_or(limit{});
  if (files && *files < few_open_files) {
    const limit most = here.most_open_files.value_or(files);
    found.push_back(
        {"open_files_low",
         fmt::format("This process may have {} files open, and each endpoint, pipe and socket is one.", *files),
         most && *most <= *files
             ? std::string{"Have the hard limit raised (LimitNOFILE= of systemd, --ulimit nofile= of Docker)."}
             : fmt::format("ulimit -n {} raises it, up to the hard limit.",
                           most ? std::to_string(*most) : "unlimited")});
  }
  limit threads;
  for (const auto* each : {&here.threads_of_user, &here.threads_of_group, &here.threads_of_system}) {
    const limit its = each->value_or(limit{});
    if (its && (!threads || *its < *threads)) threads = its;
  }
  if (threads && *threads < most_threads) {
    found.push_back({"threads_low",
                     fmt::format("{} threads and processes are allowed here, and a pool may grow to {} threads when "
                                 "callbacks block.",
                                 *threads, most_threads),
                     "Raise the limit (ulimit -u, pids.max of the control group), or set_max_threads on the pools."});
  }
}

void add_processors(warnings& found, const machine& here) {
  const std::optional<double> most = here.processors_of_group.value_or(std::nullopt);
  const std::uint32_t allowed = here.allowed_processors.value_or(0);
  if (most && *most < allowed) {
    found.push_back(
        {"processors_limited",
         fmt::format("Pools run {} callbacks at a time, one per processor, but the control group may use only "
                     "{:.3g} processors: threads are stopped whenever that is used up.",
                     allowed, *most),
         "Give the process so many processors (taskset, cpuset) instead of a share of more."});
  }
}

}  // namespace

std::vector<report::warning> advice(const machine& here, std::uint32_t most_threads, const timer_delays& timers,
                                    double clock_read_ns) {
  warnings found;
  add_requests(found, here.requests);
  add_limits(found, here, most_threads);
  add_processors(found, here);
  if (clock_read_ns > slow_clock_ns) {
    found.push_back(
        {"clock_slow",
         fmt::format("Reading the clock takes {:.0f} ns: setting a timer takes at least that long.", clock_read_ns),
         "A slow clock source is in use; see /sys/devices/system/clocksource/clocksource0."});
  }
  if (timers.early != 0) {
    found.push_back({"timers_early", fmt::format("{} timers came before they were due.", timers.early),
                     "That must not be; please report it."});
  }
  if (timers.median_us > late_timer_us) {
    found.push_back({"timers_late", fmt::format("Timers come {:.0f} us late, half of them later.", timers.median_us),
                     "The machine is overloaded, or its processors are not always its own."});
  }
  return found;
}

}  // namespace tool
