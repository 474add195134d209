#include <windows.h>

#include <atomic>
#include <csignal>

#include "interrupt.hpp"

namespace tool {
namespace {

// Written on the thread that Windows makes for the handler. Nothing is published with it, so relaxed is enough.
std::atomic<bool> noted{false};

BOOL WINAPI note(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  return !noted.exchange(true, std::memory_order_relaxed);  // not handled the second time: the default ends the process
}

}  // namespace

void notice_interrupts() { SetConsoleCtrlHandler(note, TRUE); }

bool interrupted() noexcept { return noted.load(std::memory_order_relaxed); }

int interrupt_exit_status() noexcept { return 128 + SIGINT; }

}  // namespace tool
