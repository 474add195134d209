#include "engine/start_thread.hpp"

#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>

#include "engine/fork.hpp"
#include "support/keep_loaded.hpp"

namespace tidepool::engine {

namespace {

/// A thread may be there until the end of the process, and so must its code: if that is in a library which the program
/// loads and unloads, it stays from now on.
void keep_code_loaded() noexcept {
  // Not a once that others wait for: the loader's lock may be held by somebody who waits for the thread they start.
  static constinit std::atomic<bool> done = false;
  if (done.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  support::keep_loaded(reinterpret_cast<const void*>(&start_thread));
}

}  // namespace

bool start_thread(void* (*main)(void*), void* argument, std::size_t stack) noexcept {
  require_threads();  // in the child of a fork one of them would not do
  note_thread_started();
  keep_code_loaded();
  sigset_t all;
  sigfillset(&all);  // a signal of the program is for the program's own threads
  for (const bool sized : {true, false}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setsigmask_np(&attributes, &all);
    const auto size = std::max(stack, static_cast<std::size_t>(PTHREAD_STACK_MIN));
    const bool usable = !sized || pthread_attr_setstacksize(&attributes, size) == 0;
    pthread_t thread;
    const bool started = usable && pthread_create(&thread, &attributes, main, argument) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
      return true;
    }
  }
  return false;
}

}  // namespace tidepool::engine
