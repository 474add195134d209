// A limit to the length of a test: a call of the API that never returns can not be timed out in any other way.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>

#include "contract/gate.hpp"

namespace contract {

/// Asserts that the current test comes to its end; if it does not, that is a failure of the test, and the process
/// exits with 1, since nothing could end the test any more. Once an assertion has failed, what keeps the test from
/// ending is known, and a few seconds more suffice.
class watchdog {
 public:
  watchdog() {
    {
      const std::lock_guard lock{state().mutex};
      state().ended = false;
      state().failed = false;
      state().watching = false;
    }
    listen_once();
    thread_ = std::thread{[name = current_test()] { watch(name); }};
    // A thread that is just starting may open handles, with numbers that the test has closed.
    std::unique_lock lock{state().mutex};
    state().changed.wait(lock, [] { return state().watching; });
  }

  ~watchdog() {
    {
      const std::lock_guard lock{state().mutex};
      state().ended = true;
    }
    state().changed.notify_all();
    thread_.join();
  }

  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  static constexpr std::chrono::seconds grace_after_failure{5};
  /// Longer than a wait and what fails after it, shorter than the time-out of the test's runner.
  static std::chrono::seconds limit() { return 2 * patience + std::chrono::seconds{5}; }

  struct shared_state {
    std::mutex mutex;
    std::condition_variable changed;
    bool watching = false;
    bool ended = false;
    bool failed = false;
  };

  class listener : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) {
        const std::lock_guard lock{state().mutex};
        state().failed = true;
        state().changed.notify_all();
      }
    }
  };

  /// Never destroyed: a callback that outlives the tests may still report a failure.
  static shared_state& state() {
    static shared_state& shared = *new shared_state;
    return shared;
  }

  static void listen_once() {
    [[maybe_unused]] static const bool listening = [] {
      testing::UnitTest::GetInstance()->listeners().Append(new listener);
      return true;
    }();
  }

  static void watch(const std::string& name) {
    shared_state& its = state();
    std::unique_lock lock{its.mutex};
    its.watching = true;
    its.changed.notify_all();
    its.changed.wait_for(lock, limit(), [&] { return its.ended || its.failed; });
    if (!its.ended && its.failed) {
      its.changed.wait_for(lock, grace_after_failure, [&] { return its.ended; });
    }
    if (!its.ended) {
      lock.unlock();  // the listener takes it
      ADD_FAILURE() << name << " does not come to its end";
      std::fflush(nullptr);
      std::_Exit(1);
    }
  }

  static std::string current_test() {
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string{test->test_suite_name()} + "." + test->name();
  }

  std::thread thread_;
};

}  // namespace contract
