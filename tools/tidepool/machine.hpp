#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidepool/observation.hpp"

namespace tool {

/// A limit that may not be set.
using limit = std::optional<std::uint64_t>;

/// By what requests on files are carried out.
struct request_path {
  std::string taken;                                 // "io_uring", "portable", "Windows"
  std::string asked_for = "auto";                    // the variable TIDEPOOL_IO
  tidepool::observation<int> io_uring_error;         // 0: the kernel gives us one; else an errno
  tidepool::observation<std::string> io_uring_says;  // the same in words
  tidepool::observation<int> io_uring_disabled;      // the sysctl of this name
};

/// What the system tells of the machine, and allows this process.
struct machine {
  std::string system;
  std::string kernel;
  std::string architecture;

  tidepool::observation<std::uint32_t> online_processors;
  tidepool::observation<std::uint32_t> allowed_processors;           // by the affinity of the process
  tidepool::observation<std::optional<double>> processors_of_group;  // what the control group may use at once

  tidepool::observation<limit> open_files;
  tidepool::observation<limit> most_open_files;  // what the process may raise that to
  tidepool::observation<limit> threads_of_user;
  tidepool::observation<limit> threads_of_group;
  tidepool::observation<limit> threads_of_system;
  tidepool::observation<limit> locked_memory;  // bytes

  request_path requests;

  tidepool::observation<std::string> clock_source;
};

machine look_at_machine();

}  // namespace tool
