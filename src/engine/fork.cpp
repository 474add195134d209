#include "engine/fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "engine/parking_lot.hpp"
#include "engine/poller.hpp"
#include "engine/worker.hpp"

namespace tidepool::engine {

constinit bool threads_are_lost = false;

namespace {

constinit std::atomic<bool> threads_were_started = false;  // relaxed: fork() orders it for the child

/// In the child, on its only thread.
void after_fork() noexcept {
  poller& its = poller::instance();
  threads_are_lost = threads_are_lost || threads_were_started.load(std::memory_order_relaxed) ||
                     poller::has_targets() || !its.reopen();
  if (threads_are_lost) {
    worker::note_fork();
    parking_place::make_all_anew();  // a lost thread may have been in one
    its.abandon();                   // what is done to these is done to the parent's
  }
}

[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, &after_fork);

}  // namespace

void note_thread_started() noexcept { threads_were_started.store(true, std::memory_order_relaxed); }

void refuse_after_fork() noexcept {
  constexpr char message[] =
      "tidepool: this process was forked from one in which the thread pool was in use. Its threads are not here, and "
      "what needs them can not be done. After such a fork only exec and _exit work\n";
  static_cast<void>(!write(STDERR_FILENO, message, sizeof message - 1));
  std::abort();
}

}  // namespace tidepool::engine
