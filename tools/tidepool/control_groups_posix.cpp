#include "control_groups_posix.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tool {
namespace {

namespace fs = std::filesystem;

template <class T>
void tighten(std::optional<T>& limit, T to) {
  limit = limit ? std::min(*limit, to) : to;
}

/// Both numbers are in microseconds; no quota is "max" in version 2 and -1 in version 1.
void tighten_processors(control_group_limits& limits, std::istream& quota_from, std::istream& period_from) {
  double quota = 0;
  double period = 0;
  if (quota_from >> quota && period_from >> period && quota > 0 && period > 0) {
    tighten(limits.processors, quota / period);
  }
}

void read_group(control_group_limits& limits, const fs::path& group) {
  std::ifstream both{group / "cpu.max"};
  tighten_processors(limits, both, both);
  std::ifstream quota{group / "cpu.cfs_quota_us"};
  std::ifstream period{group / "cpu.cfs_period_us"};
  tighten_processors(limits, quota, period);
  std::ifstream tasks{group / "pids.max"};
  if (std::uint64_t most = 0; tasks >> most) tighten(limits.tasks, most);
}

/// The group and those around it, up to the mount point.
void read_groups(control_group_limits& limits, const fs::path& mount, const std::string& path) {
  for (fs::path group = fs::path{path}.relative_path();; group = group.parent_path()) {
    read_group(limits, mount / group);
    if (group.empty()) return;
  }
}

}  // namespace

control_group_limits read_control_group_limits(const std::string& membership, const fs::path& mount) {
  control_group_limits limits;
  std::istringstream lines{membership};
  // "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers, and its own folder where version 1 is mounted as well.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      read_groups(limits, mount, path);
      read_groups(limits, mount / "unified", path);
    } else {
      read_groups(limits, mount / controllers, path);
    }
  }
  return limits;
}

}  // namespace tool
