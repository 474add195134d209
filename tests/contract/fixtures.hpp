// Owners for the objects of the thread pool API, and what every contract test needs.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "contract/gate.hpp"
#include "contract/watchdog.hpp"
#include "contract/win32.hpp"

namespace contract {

/// Whether Wine's implementation is under test, whose known deviations are skipped by name.
[[nodiscard]] inline bool under_wine() {
#ifdef _WIN32
  const HMODULE ntdll = GetModuleHandleA("ntdll.dll");
  return ntdll != nullptr && GetProcAddress(ntdll, "wine_get_version") != nullptr;
#else
  return false;
#endif
}

#define SKIP_UNDER_WINE(reason)      \
  if (::contract::under_wine()) {    \
    GTEST_SKIP() << "Wine: " reason; \
  }                                  \
  static_assert(true, "requires a semicolon")

class contract_test : public testing::Test {
 private:
  watchdog watchdog_;
};

/// An owned pool.
class pool {
 public:
  pool() { EXPECT_NE(pool_, nullptr); }

  explicit pool(DWORD maximum, DWORD minimum = 0) : pool{} {
    SetThreadpoolThreadMaximum(pool_, maximum);
    if (minimum != 0) {
      EXPECT_TRUE(SetThreadpoolThreadMinimum(pool_, minimum));
    }
  }

  ~pool() { close(); }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  [[nodiscard]] PTP_POOL get() const { return pool_; }

  void close() {
    if (pool_ != nullptr) {
      CloseThreadpool(std::exchange(pool_, nullptr));
    }
  }

 private:
  PTP_POOL pool_ = CreateThreadpool(nullptr);
};

/// A callback environment. Converts to the pointer that the functions take.
class environment {
 public:
  environment() { InitializeThreadpoolEnvironment(&environment_); }
  explicit environment(const pool& where) : environment{} { SetThreadpoolCallbackPool(&environment_, where.get()); }
  ~environment() { DestroyThreadpoolEnvironment(&environment_); }
  environment(const environment&) = default;
  environment& operator=(const environment&) = default;

  environment& priority(TP_CALLBACK_PRIORITY value) {
    SetThreadpoolCallbackPriority(&environment_, value);
    return *this;
  }

  environment& group(PTP_CLEANUP_GROUP group, PTP_CLEANUP_GROUP_CANCEL_CALLBACK on_cancel = nullptr) {
    SetThreadpoolCallbackCleanupGroup(&environment_, group, on_cancel);
    return *this;
  }

  environment& finalization(PTP_SIMPLE_CALLBACK callback) {
    environment_.FinalizationCallback = callback;
    return *this;
  }

  operator PTP_CALLBACK_ENVIRON() { return &environment_; }
  TP_CALLBACK_ENVIRON* operator->() { return &environment_; }

 private:
  TP_CALLBACK_ENVIRON environment_;
};

using instance_function = std::function<void(PTP_CALLBACK_INSTANCE)>;

/// `f(instance)` or `f()` as one type.
template <class F>
instance_function to_instance_function(F f) {
  if constexpr (std::is_invocable_v<F&, PTP_CALLBACK_INSTANCE>) {
    return instance_function{std::move(f)};
  } else {
    return instance_function{[f = std::move(f)](PTP_CALLBACK_INSTANCE) mutable { f(); }};
  }
}

/// An owned work object that calls `f()` or `f(instance)`. Its destructor waits for the callbacks.
class work {
 public:
  template <class F>
  explicit work(F f, PTP_CALLBACK_ENVIRON how = nullptr)
      : function_{to_instance_function(std::move(f))}, work_{CreateThreadpoolWork(&work::run, this, how)} {
    EXPECT_NE(work_, nullptr);
  }

  ~work() {
    if (work_ != nullptr) {
      wait();
      close();
    }
  }

  work(const work&) = delete;
  work& operator=(const work&) = delete;

  [[nodiscard]] PTP_WORK get() const { return work_; }

  void submit(unsigned times = 1) {
    for (; times != 0; --times) {
      SubmitThreadpoolWork(work_);
    }
  }

  void wait() { WaitForThreadpoolWorkCallbacks(work_, FALSE); }
  void cancel() { WaitForThreadpoolWorkCallbacks(work_, TRUE); }
  void close() { CloseThreadpoolWork(std::exchange(work_, nullptr)); }

  /// The object is released by somebody else from now on.
  void disown() { work_ = nullptr; }

 private:
  static void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK) {
    static_cast<work*>(context)->function_(instance);
  }

  instance_function function_;
  PTP_WORK work_;
};

/// Submits `f(instance)` as a one-off callback. Returns what TrySubmitThreadpoolCallback returns.
inline BOOL submit_one_off(instance_function f, PTP_CALLBACK_ENVIRON how = nullptr) {
  auto owned = std::make_unique<instance_function>(std::move(f));
  const BOOL submitted = TrySubmitThreadpoolCallback(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context) {
        const std::unique_ptr<instance_function> mine{static_cast<instance_function*>(context)};
        (*mine)(instance);
      },
      owned.get(), how);
  if (submitted) {
    static_cast<void>(owned.release());
  }
  return submitted;
}

/// Holds threads of a pool, each in a callback of its own, until it is released.
class occupier {
 public:
  occupier(PTP_CALLBACK_ENVIRON where, unsigned threads) : threads_{threads} {
    for (unsigned i = 0; i != threads; ++i) {
      holders_.push_back(std::make_unique<work>(
          [this] {
            inside_.add();
            EXPECT_TRUE(release_.pass());
          },
          where));
      holders_.back()->submit();
    }
  }

  ~occupier() { release(); }
  occupier(const occupier&) = delete;
  occupier& operator=(const occupier&) = delete;

  /// Waits until every thread is really inside its callback. False when the pool did not give that many.
  [[nodiscard]] bool held() { return inside_.reaches(threads_); }

  /// Lets the threads go, and waits until they have left.
  void release() {
    release_.open();
    holders_.clear();
  }

 private:
  unsigned threads_;
  tally inside_;
  gate release_;
  std::vector<std::unique_ptr<work>> holders_;
};

/// Returns when everything that was queued in a pool of one thread has run and returned.
inline void drain_pool_of_one(PTP_CALLBACK_ENVIRON where) {
  // Of low priority: an object with more submissions would come after it otherwise.
  TP_CALLBACK_ENVIRON low = *where;
  low.CallbackPriority = TP_CALLBACK_PRIORITY_LOW;
  work last{[] {}, &low};
  last.submit();
}

/// Shows that a working pool would have had time: runs callbacks on another pool that each need `threads` threads
/// at once. What has not happened when it returns was not merely late.
inline void let_another_pool_work(unsigned threads = 4) {
  const pool other;
  environment where{other};
  occupier visitors{where, threads};
  EXPECT_TRUE(visitors.held());
}

}  // namespace contract
