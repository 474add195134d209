#include <atomic>
#include <csignal>

#include "interrupt.hpp"

namespace tool {
namespace {

// Written by the handler on whichever thread the signal meets. Nothing is published with it, so relaxed is enough.
std::atomic<int> noted_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

void note(int signal) { noted_signal.store(signal, std::memory_order_relaxed); }

void notice(int signal) {
  struct sigaction before{};
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = note;
  // Restart: no system call anywhere in the process needs to know. Reset: the second signal does what it always did.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void notice_interrupts() {
  notice(SIGINT);
  notice(SIGTERM);
}

bool interrupted() noexcept { return noted_signal.load(std::memory_order_relaxed) != 0; }

int interrupt_exit_status() noexcept { return 128 + noted_signal.load(std::memory_order_relaxed); }

}  // namespace tool
