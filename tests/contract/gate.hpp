// What the contract tests synchronise with. None of it uses the API under test, and no wait lasts for ever.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace contract {

/// How long a test waits for what must happen before it fails. Where failures are what is expected, fewer seconds will
/// do: TIDEPOOL_TEST_PATIENCE in the environment.
inline const std::chrono::seconds patience = [] {
  const char* const asked = std::getenv("TIDEPOOL_TEST_PATIENCE");
  return std::chrono::seconds{asked != nullptr ? std::stoi(asked) : 20};
}();

/// Closed until somebody opens it.
class gate {
 public:
  void open() {
    const std::lock_guard lock{mutex_};
    open_ = true;
    opened_.notify_all();
  }

  /// Waits until the gate is open; false when patience ran out.
  [[nodiscard]] bool pass() {
    std::unique_lock lock{mutex_};
    return opened_.wait_for(lock, patience, [this] { return open_; });
  }

  [[nodiscard]] bool is_open() {
    const std::lock_guard lock{mutex_};
    return open_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

/// Counts what happened, and can be waited for.
class tally {
 public:
  void add(unsigned amount = 1) {
    const std::lock_guard lock{mutex_};
    count_ += amount;
    changed_.notify_all();
  }

  [[nodiscard]] unsigned count() {
    const std::lock_guard lock{mutex_};
    return count_;
  }

  /// Waits until the count is at least `amount`; false when patience ran out.
  [[nodiscard]] bool reaches(unsigned amount) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, patience, [this, amount] { return count_ >= amount; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned count_ = 0;
};

/// How many threads are between enter() and leave(), and how many were at most.
class crowd {
 public:
  void enter() {
    const std::lock_guard lock{mutex_};
    ++inside_;
    peak_ = std::max(peak_, inside_);
  }

  void leave() {
    const std::lock_guard lock{mutex_};
    --inside_;
  }

  [[nodiscard]] unsigned inside() {
    const std::lock_guard lock{mutex_};
    return inside_;
  }

  [[nodiscard]] unsigned peak() {
    const std::lock_guard lock{mutex_};
    return peak_;
  }

 private:
  std::mutex mutex_;
  unsigned inside_ = 0;
  unsigned peak_ = 0;
};

/// The order in which things happened, one character each.
class journal {
 public:
  void note(char what) {
    const std::lock_guard lock{mutex_};
    text_ += what;
  }

  [[nodiscard]] std::string text() {
    const std::lock_guard lock{mutex_};
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

/// Looks again and again until `condition` holds; false when patience ran out. For states that nothing signals.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

/// The same for what is over too soon for a thread that has to be woken first.
template <class Condition>
[[nodiscard]] bool eventually_without_sleep(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
  }
  return true;
}

}  // namespace contract
