// A thread that is held in a call, and known to be.
#pragma once

#include <functional>
#include <utility>

#ifdef _WIN32
#include <thread>
#endif

#include "contract/fixtures.hpp"
#include "contract/objects.hpp"

namespace contract {

/// A thread that makes a call which must not return before the test lets it.
class blocked_call {
 public:
#ifdef _WIN32
  explicit blocked_call(std::function<void()> call)
      : thread_{[this, call = std::move(call)] {
          call();
          returned_.open();
        }} {}
  ~blocked_call() { join(); }
#else
  explicit blocked_call(const std::function<void()>& call)
      : thread_{1, [this, call] {
                  call();
                  returned_.open();
                  return DWORD{WAIT_OBJECT_0};
                }} {}
#endif
  blocked_call(const blocked_call&) = delete;
  blocked_call& operator=(const blocked_call&) = delete;

  /// Whether it is seen to be asleep in the call; on Windows, where nothing tells, whether it has not returned although
  /// it could have.
  [[nodiscard]] bool blocks() {
#ifdef _WIN32
    let_another_pool_work();
    return !returned_.is_open();
#else
    return thread_.asleep() && !returned_.is_open();
#endif
  }

  [[nodiscard]] bool returns() { return returned_.pass(); }

  void join() {
#ifdef _WIN32
    if (thread_.joinable()) {
      thread_.join();
    }
#else
    thread_.join();
#endif
  }

 private:
  gate returned_;
#ifdef _WIN32
  std::thread thread_;
#else
  waiters thread_;
#endif
};

}  // namespace contract
