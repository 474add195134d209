#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "control_groups_posix.hpp"

namespace {

namespace fs = std::filesystem;

using tool::read_control_group_limits;

/// A folder in which groups can be mounted.
class control_groups : public testing::Test {
 protected:
  control_groups() { fs::create_directories(mount_); }
  ~control_groups() override { fs::remove_all(mount_); }

  void write(const char* file, const char* text) const {
    fs::create_directories((mount_ / file).parent_path());
    std::ofstream{mount_ / file} << text;
  }

  const fs::path mount_ = fs::temp_directory_path() / ("tidepool-groups-" + std::to_string(getpid()));
};

TEST_F(control_groups, limit_nothing_when_no_limit_is_set) {
  write("a/cpu.max", "max 100000\n");
  write("a/pids.max", "max\n");
  write("cpu/b/cpu.cfs_quota_us", "-1\n");
  write("cpu/b/cpu.cfs_period_us", "100000\n");
  for (const char* membership : {"0::/a\n", "1:cpu:/b\n", "0::/elsewhere\n", "", "nonsense\n"}) {
    const auto limits = read_control_group_limits(membership, mount_);
    EXPECT_FALSE(limits.processors.has_value()) << membership;
    EXPECT_FALSE(limits.tasks.has_value()) << membership;
  }
}

TEST_F(control_groups, of_version_2_have_their_limits_in_one_folder) {
  write("a/cpu.max", "150000 100000\n");
  write("a/pids.max", "77\n");
  const auto limits = read_control_group_limits("0::/a\n", mount_);
  EXPECT_EQ(limits.processors, 1.5);
  EXPECT_EQ(limits.tasks, 77u);
}

TEST_F(control_groups, of_version_1_have_a_folder_for_each_controller) {
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n");
  write("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  write("pids/b/pids.max", "12\n");
  const auto limits = read_control_group_limits("9:name=systemd:/\n2:cpu,cpuacct:/a\n1:pids:/b\n", mount_);
  EXPECT_EQ(limits.processors, 0.5);
  EXPECT_EQ(limits.tasks, 12u);
}

TEST_F(control_groups, are_limited_by_those_around_them) {
  write("a/b/cpu.max", "400000 100000\n");
  write("a/cpu.max", "200000 100000\n");
  write("cpu.max", "800000 100000\n");
  write("pids.max", "9\n");
  const auto limits = read_control_group_limits("0::/a/b/c\n", mount_);
  EXPECT_EQ(limits.processors, 2.0);
  EXPECT_EQ(limits.tasks, 9u);
}

}  // namespace
