// The threads of this process, by the system's own numbers.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "contract/win32.hpp"

#ifdef _WIN32
#include <tlhelp32.h>
#else
#include "tidepool/win32/tpextensions.h"
#include <filesystem>
#include <fstream>
#include <unistd.h>
#endif

namespace contract {

using thread_number = unsigned long;

[[nodiscard]] inline thread_number this_thread() {
#ifdef _WIN32
  return GetCurrentThreadId();
#else
  return static_cast<thread_number>(gettid());
#endif
}

[[nodiscard]] inline std::set<thread_number> live_threads() {
  std::set<thread_number> numbers;
#ifdef _WIN32
  const HANDLE snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  THREADENTRY32 entry{};
  entry.dwSize = sizeof entry;
  for (BOOL more = Thread32First(snapshot, &entry); more; more = Thread32Next(snapshot, &entry)) {
    if (entry.th32OwnerProcessID == GetCurrentProcessId()) {
      numbers.insert(entry.th32ThreadID);
    }
  }
  CloseHandle(snapshot);
#else
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    numbers.insert(std::stoul(task.path().filename().string()));
  }
#endif
  return numbers;
}

#ifndef _WIN32
/// How often the thread has gone to sleep so far, as a text. Nothing if it is not asleep, or gone.
[[nodiscard]] inline std::optional<std::string> sleeps_of(thread_number thread) {
  std::ifstream status{"/proc/self/task/" + std::to_string(thread) + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:") && line.find("S (sleeping)") == std::string::npos) {
      return std::nullopt;
    }
    if (line.starts_with("voluntary_ctxt_switches:")) {
      return line;
    }
  }
  return std::nullopt;
}
#endif

/// The threads of `some` that are still there.
[[nodiscard]] inline std::set<thread_number> survivors(const std::set<thread_number>& some) {
  std::set<thread_number> both;
  const std::set<thread_number> now = live_threads();
  std::set_intersection(some.begin(), some.end(), now.begin(), now.end(), std::inserter(both, both.end()));
  return both;
}

/// Makes idle workers leave soon, where that can be asked for. Elsewhere they take the system's time.
inline void hasten_retirement([[maybe_unused]] PTP_POOL pool) {
#ifndef _WIN32
  TidepoolSetPoolIdleTimeout(pool, 10);
#endif
}

}  // namespace contract
