#ifndef _WIN32

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "trace/thread_segment.hpp"

namespace tidepool::recorder {

constinit thread_local thread_place place_here;

namespace {

struct at_exit_of_thread {
  at_exit_of_thread() noexcept {}
  ~at_exit_of_thread() {
    place_here.ending = true;
    if (place_here.own != nullptr) {
      place_here.own->give_up();
      place_here.own = nullptr;
    }
  }
  void be_there() noexcept {}
};

thread_local at_exit_of_thread exit_hook;

}  // namespace

void prepare_threads() noexcept {}

std::uint32_t this_thread() noexcept { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

segment* next_own_segment(segment* full) noexcept {
  const int error = errno;
  const std::uint32_t thread = full != nullptr ? full->thread : this_thread();
  place_here.own = nullptr;
  if (full != nullptr) {
    full->give_up();
  }
  if (!place_here.ending) {
    exit_hook.be_there();
    segment* const next = take_next();
    if (next != nullptr) {
      next->thread = thread;
    }
    place_here.own = next;
  }
  errno = error;
  return place_here.own;
}

}  // namespace tidepool::recorder

#endif
