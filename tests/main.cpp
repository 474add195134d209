// The main of every test program. Beside running the tests it leaves a mark behind when they have come to their
// end, which tests/launch.sh requires: a callback that calls exit(0), or a crash that an emulator turns into exit
// status 0, must not pass for success.
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace {

void leave_mark(int result) {
  const char* path = std::getenv("TIDEPOOL_TEST_MARK");
  if (path == nullptr) {
    return;  // started by hand
  }
  if (std::FILE* file = std::fopen(path, "wb")) {
    std::fprintf(file, "finished %d\n", result);
    std::fclose(file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // A death test's child starts anew instead of continuing after fork, which would leave it without the
  // threads that its parent had.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#ifdef TIDEPOOL_FAIL_FAST
  // The subject of these is a destructor that finds something to drain, which ends the process.
  const std::string filter = GTEST_FLAG_GET(filter);
  GTEST_FLAG_SET(filter, filter + (filter.find('-') == std::string::npos ? "-" : ":") + "*_destructor*.*");
#endif
  const int result = RUN_ALL_TESTS();
  leave_mark(result);
  return result;
}
