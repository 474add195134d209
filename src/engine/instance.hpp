// One run of a callback, and what it asked to be done when it returns.
#pragma once

#include "engine/environment.hpp"
#include "engine/worker.hpp"

namespace tidepool::engine {
struct callback_object;
}

/// Lives on the worker's stack while the callback runs.
struct _TP_CALLBACK_INSTANCE {
  _TP_CALLBACK_INSTANCE(tidepool::engine::worker& on, tidepool::engine::callback_object* of) noexcept
      : worker(on), object(of) {}
  _TP_CALLBACK_INSTANCE(const _TP_CALLBACK_INSTANCE&) = delete;
  _TP_CALLBACK_INSTANCE& operator=(const _TP_CALLBACK_INSTANCE&) = delete;

  /// What was asked for, in the order that Windows keeps: critical section, mutex, semaphore, event, library.
  void complete() noexcept {
    if (asked) [[unlikely]] {
      complete_asked();
    }
  }

  tidepool::engine::worker& worker;
  tidepool::engine::callback_object* object;  // null for a one-off callback, and once the callback is disassociated
  // Once the callback is disassociated:
  _TP_CLEANUP_GROUP* group = nullptr;  // that still waits for it
  HMODULE held_library = nullptr;      // that it still needs
  bool asked = false;                  // whether anything from `critical_section` on has been set
  PVOID subject;                       // what the run is about, for objects whose runs differ
  // Not initialised until then: ask() does it.
  PCRITICAL_SECTION critical_section;
  HANDLE mutex;
  HANDLE semaphore;
  DWORD semaphore_count;
  HANDLE event;
  HMODULE library;

  void ask() noexcept {
    if (!asked) {
      asked = true;
      critical_section = nullptr;
      mutex = nullptr;
      semaphore = nullptr;
      semaphore_count = 0;
      event = nullptr;
      library = nullptr;
    }
  }

 private:
  void complete_asked() noexcept;
};
