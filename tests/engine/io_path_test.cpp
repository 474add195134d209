// How requests on files are carried out: what TIDEPOOL_IO asks for, and what there is.
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/io_fixtures.hpp"
#include "tidepool/win32/tpextensions.h"

namespace {

using namespace contract;

std::string_view asked_for() {
  const char* const asked = std::getenv("TIDEPOOL_IO");
  return asked != nullptr ? asked : "auto";
}

class io_paths : public io_test {};

TEST_F(io_paths, are_chosen_by_the_environment) {
  if (asked_for() == "portable") {
    EXPECT_EQ(TidepoolIoPath(), TidepoolIoPortable);
  } else if (asked_for() == "uring") {
    EXPECT_EQ(TidepoolIoPath(), TidepoolIoUring);
  } else {
    EXPECT_EQ(TidepoolIoPath(), TidepoolIoPath()) << "it does not change";
  }
}

TEST_F(io_paths, take_io_uring_unless_the_kernel_refuses_it_or_another_is_asked_for) {
  const bool may_take_it = asked_for() != "portable";
  EXPECT_EQ(TidepoolIoPath() == TidepoolIoUring, may_take_it && TidepoolIoUringError() == 0);
}

// ---- a kernel without io_uring, which a system call filter makes of any ----------------------------------

/// From here on, and in what is executed, the kernel says that it knows no io_uring.
bool hide_io_uring() {
  sock_filter program[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_io_uring_setup},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter{sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr const char* hidden_mark = "TIDEPOOL_TEST_IO_URING_IS_HIDDEN";

bool io_uring_is_hidden() { return std::getenv(hidden_mark) != nullptr; }

/// Runs the test that calls it in a process without io_uring, which asks for `path`. Returns its exit status.
int again_without_io_uring(const char* path) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string{"--gtest_filter="} + test.test_suite_name() + '.' + test.name();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TIDEPOOL_IO", path, 1);
    setenv(hidden_mark, "1", 1);
    unsetenv("TIDEPOOL_TEST_MARK");
    unsetenv("GTEST_OUTPUT");
    if (hide_io_uring()) {
      execl("/proc/self/exe", "engine_tests", filter.c_str(), "--gtest_brief=1", static_cast<char*>(nullptr));
    }
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class io_paths_without_uring : public contract_test {};

TEST_F(io_paths_without_uring, fall_back_to_the_portable_one) {
  if (!io_uring_is_hidden()) {
    EXPECT_EQ(again_without_io_uring("auto"), 0);
    return;
  }
  ASSERT_EQ(syscall(__NR_io_uring_setup, 1, nullptr), -1);
  ASSERT_EQ(errno, ENOSYS);
  EXPECT_EQ(TidepoolIoPath(), TidepoolIoPortable);
  EXPECT_EQ(TidepoolIoUringError(), ENOSYS);
  const io_file file{"content"};
  recorded_io io{file.reader()};
  request its{7};
  EXPECT_EQ(io.read(file.reader(), its), success(7));
}

TEST_F(io_paths_without_uring, fail_for_files_when_uring_is_asked_for_and_not_for_pipes) {
  if (!io_uring_is_hidden()) {
    EXPECT_EQ(again_without_io_uring("uring"), 0);
    return;
  }
  const temporary_folder folder;
  const std::string path = folder.file("file", "content");
  SetLastError(0);
  EXPECT_EQ(CreateFileA(path.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, nullptr),
            INVALID_HANDLE_VALUE);
  EXPECT_EQ(GetLastError(), ERROR_NOT_SUPPORTED);
  io_pipe channel;
  channel.provide("word");
  recorded_io io{channel.reader()};
  request its{4};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
}

}  // namespace
