// A pool that can not have the threads it was told to keep. In a child process, since it takes the memory away.
#include "safe.hpp"

#ifndef _WIN32
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "sanitizers.hpp"

namespace safe {
namespace {

/// Leaves the process address space for small things, and none for another thread's stack.
void forbid_large_mappings() {
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) {
    std::_Exit(10);
  }
  std::fclose(file);
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) + (2u << 20);
  setrlimit(RLIMIT_AS, &limit);
}

void allow_large_mappings() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void fail_to_start_threads() {
  tidepool::pool pool;
  pool.set_stack_size({8u << 20, 4096});
  forbid_large_mappings();
  try {
    pool.set_min_threads(1);
    std::_Exit(11);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) {
      std::_Exit(12);
    }
  }
  if (pool.statistics().threads != 0u) {
    std::_Exit(13);
  }
  allow_large_mappings();
  pool.set_min_threads(1);
  std::_Exit(pool.statistics().threads == 1u ? 0 : 14);
}

TEST(pools, throw_when_the_threads_of_their_minimum_can_not_be_made) {
  if (under_sanitizer) {
    GTEST_SKIP() << "the sanitizer needs the address space";
  }
  EXPECT_EXIT(fail_to_start_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace safe
#endif
