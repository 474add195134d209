// Kernel objects for the contract tests, and threads that wait for them.
#pragma once

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "contract/fixtures.hpp"

#ifndef _WIN32
#include <optional>
#include <string>

#include "contract/threads.hpp"
#endif

/// Expects that `call` returns zero or null and leaves `code` as the last error.
#define EXPECT_FAILS_WITH(code, call)                                   \
  do {                                                                  \
    SetLastError(0x1234);                                               \
    const bool succeeded = (call) ? true : false;                       \
    const DWORD left_behind = GetLastError();                           \
    EXPECT_FALSE(succeeded) << #call;                                   \
    EXPECT_EQ(left_behind, static_cast<DWORD>(code)) << "by " << #call; \
  } while (false)

/// Expects that the wait function `call` returns WAIT_FAILED and leaves `code` as the last error.
#define EXPECT_WAIT_FAILS_WITH(code, call) EXPECT_FAILS_WITH(code, (call) != WAIT_FAILED)

namespace contract {

/// What a test waits with: long enough for whatever must happen.
inline const DWORD patience_in_milliseconds =
    static_cast<DWORD>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count());

/// How often a race is run. A thread is dear under Wine.
#ifdef _WIN32
inline constexpr int repetitions = 20;
#else
inline constexpr int repetitions = 200;
#endif

/// Owns a handle.
class handle {
 public:
  explicit handle(HANDLE value) : value_(value) { EXPECT_NE(value_, nullptr) << "error " << GetLastError(); }
  handle(handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  handle& operator=(handle&&) = delete;
  ~handle() { close(); }

  operator HANDLE() const { return value_; }

  void close() {
    if (value_ != nullptr) {
      EXPECT_TRUE(CloseHandle(std::exchange(value_, nullptr)));
    }
  }

 private:
  HANDLE value_;
};

inline handle manual_event(bool set = false) { return handle{CreateEventA(nullptr, TRUE, set, nullptr)}; }
inline handle automatic_event(bool set = false) { return handle{CreateEventA(nullptr, FALSE, set, nullptr)}; }
inline handle semaphore(LONG count, LONG maximum) { return handle{CreateSemaphoreA(nullptr, count, maximum, nullptr)}; }
inline handle mutex(bool owned = false) { return handle{CreateMutexA(nullptr, owned, nullptr)}; }

inline handle duplicate(HANDLE source) {
  HANDLE second = nullptr;
  EXPECT_TRUE(
      DuplicateHandle(GetCurrentProcess(), source, GetCurrentProcess(), &second, 0, FALSE, DUPLICATE_SAME_ACCESS));
  return handle{second};
}

/// Whether a wait succeeds at once. Consumes the signal if there is one.
inline bool take(HANDLE object) { return WaitForSingleObject(object, 0) == WAIT_OBJECT_0; }

/// Runs `f(i)` on `count` threads that start together, and returns when all have ended.
template <class F>
void together(unsigned count, F f) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != count; ++i) {
    threads.emplace_back([&ready, &f, count, i] {
      ready.fetch_add(1);
      while (ready.load() != count) {
        std::this_thread::yield();
      }
      f(i);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Threads that each make one wait, of which the test can know that they are asleep in it. The destructor waits for
/// their end: it is for the test to release them all.
class waiters {
 public:
  /// Threads that wait for `object`.
  waiters(unsigned count, HANDLE object) {
    for (unsigned i = 0; i != count; ++i) {
#ifdef _WIN32
      // Signals the semaphore and starts to wait in one step.
      add([this, object] { return SignalObjectAndWait(started_, object, patience_in_milliseconds, FALSE); });
#else
      add([object] { return WaitForSingleObject(object, patience_in_milliseconds); });
#endif
    }
  }

#ifndef _WIN32
  /// Threads that call `wait`. Only where any sleeping thread can be told from others.
  waiters(unsigned count, const std::function<DWORD()>& wait) {
    for (unsigned i = 0; i != count; ++i) {
      add(wait);
    }
  }
#endif

  ~waiters() { join(); }
  waiters(const waiters&) = delete;
  waiters& operator=(const waiters&) = delete;

  /// Waits until all threads are asleep in their waits; false when patience ran out. To be asked before any is
  /// released.
  [[nodiscard]] bool asleep() {
#ifdef _WIN32
    for (; known_asleep_ != threads_.size(); ++known_asleep_) {
      if (WaitForSingleObject(started_, patience_in_milliseconds) != WAIT_OBJECT_0) {
        return false;
      }
    }
    return true;
#else
    return eventually([this] {
      // Asleep in both looks and not awake in between, all of them: then all were asleep at one moment, and none can
      // have waited for another to leave the lock of the object.
      const auto first = look();
      return first && first == look();
    });
#endif
  }

  /// Waits until at least `count` waits have returned; false when patience ran out.
  [[nodiscard]] bool returned(unsigned count) { return returned_.reaches(count); }
  [[nodiscard]] unsigned returned_so_far() { return returned_.count(); }

  void join() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) {
        thread.join();
      }
    }
  }

  /// What the waits returned, in the order in which they did.
  [[nodiscard]] std::vector<DWORD> results() {
    const std::lock_guard lock{mutex_};
    return results_;
  }

 private:
  void add(std::function<DWORD()> wait) {
    threads_.emplace_back([this, wait = std::move(wait)] {
#ifndef _WIN32
      {
        const std::lock_guard lock{mutex_};
        numbers_.push_back(this_thread());
      }
#endif
      const DWORD result = wait();
      {
        const std::lock_guard lock{mutex_};
        results_.push_back(result);
      }
      returned_.add();
    });
  }

#ifndef _WIN32
  /// How often each thread has gone to sleep so far. Nothing if one is not asleep.
  std::optional<std::vector<std::string>> look() {
    const std::lock_guard lock{mutex_};
    if (numbers_.size() != threads_.size()) {
      return std::nullopt;
    }
    std::vector<std::string> sleeps;
    for (const thread_number number : numbers_) {
      std::optional<std::string> count = sleeps_of(number);
      if (!count) {
        return std::nullopt;
      }
      sleeps.push_back(std::move(*count));
    }
    return sleeps;
  }

  std::vector<thread_number> numbers_;
#else
  handle started_ = semaphore(0, 1000);
  std::size_t known_asleep_ = 0;
#endif
  std::mutex mutex_;
  std::vector<DWORD> results_;
  tally returned_;
  std::vector<std::thread> threads_;
};

}  // namespace contract
