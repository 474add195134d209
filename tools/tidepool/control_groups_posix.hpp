#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tool {

/// What the control groups of Linux allow a process, of both versions. Empty: no limit.
struct control_group_limits {
  std::optional<double> processors;    // processor time per time
  std::optional<std::uint64_t> tasks;  // threads
};

/// Of the process whose /proc/PID/cgroup is `membership`, with the groups mounted at `mount`: the tightest of its group and
/// of those around it. Groups that cannot be seen from here limit nothing as far as is known.
control_group_limits read_control_group_limits(const std::string& membership, const std::filesystem::path& mount);

}  // namespace tool
