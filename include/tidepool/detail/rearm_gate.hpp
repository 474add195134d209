// What stands between a callback that wants to arm its object again and an object that is being drained.
#pragma once

#include <cstdint>
#include <mutex>

namespace tidepool::detail {

/// One for each object whose callbacks can re-arm it. While a drain holds it closed, what a callback asks for is
/// discarded; drains nest and overlap, and the last one to end opens the gate.
///
/// Asking and doing are one step under the lock. So a re-arm either comes before the closing, and the drain finds the
/// object armed, or after it, and does not happen. It matters too that a run which has been disassociated, and which
/// no drain waits for, can not reach the native object when that is gone. Under the lock are native calls that
/// neither block nor call back, never a callable.
///
/// docs/design/teardown.md goes through the races.
class rearm_gate {
 public:
  rearm_gate() = default;
  rearm_gate(const rearm_gate&) = delete;
  rearm_gate& operator=(const rearm_gate&) = delete;

  /// A drain begins.
  void close() noexcept {
    const std::lock_guard guard(mutex_);
    ++drains_;
  }

  /// A drain that is not the last one ends.
  void open() noexcept {
    const std::lock_guard guard(mutex_);
    --drains_;
  }

  /// The last drain of all is over, and the native object is about to be released.
  void end() noexcept {
    const std::lock_guard guard(mutex_);
    ended_ = true;
  }

  /// Calls `arm` unless a drain is in progress. Returns whether it has.
  template <class Arm>
  bool rearm(Arm arm) noexcept {
    const std::lock_guard guard(mutex_);
    if (drains_ != 0) {
      return false;
    }
    arm();
    return true;
  }

  /// Calls `stop` if there still is an object to be stopped.
  template <class Stop>
  void stop(Stop stop) noexcept {
    const std::lock_guard guard(mutex_);
    if (!ended_) {
      stop();
    }
  }

  /// Calls `stop` if a drain is in progress. For a callback that the drain waits for.
  template <class Stop>
  void stop_if_drained(Stop stop) noexcept {
    const std::lock_guard guard(mutex_);
    if (drains_ != 0) {
      stop();
    }
  }

 private:
  std::mutex mutex_;
  std::uint32_t drains_ = 0;
  bool ended_ = false;
};

}  // namespace tidepool::detail
