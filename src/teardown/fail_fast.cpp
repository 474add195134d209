#include "teardown/fail_fast.hpp"

#include <cstdio>
#include <cstdlib>

#include "trace/recorder.hpp"

namespace tidepool {

namespace {

[[noreturn]] void end_process() noexcept {
  std::fflush(stderr);
  recorder::write_at_end();
  std::abort();
}

}  // namespace

void fail_fast(const char* message) noexcept {
  std::fprintf(stderr, "tidepool: %s\n", message);
  end_process();
}

void fail_fast(const char* kind, const std::source_location& created_at, const char* what_happened) noexcept {
  std::fprintf(stderr, "tidepool: the %s created at %s:%lu (%s) %s\n", kind, created_at.file_name(),
               static_cast<unsigned long>(created_at.line()), created_at.function_name(), what_happened);
  end_process();
}

}  // namespace tidepool
