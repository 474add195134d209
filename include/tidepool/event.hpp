// Events: something a thread waits for and another sets.
#pragma once

#include <chrono>
#include <memory>

#include "tidepool/native.hpp"

namespace tidepool {

/// What resets an event: `manual`, only reset(); `automatic`, the one wait that it releases.
enum class reset_mode { manual, automatic };

/// A kernel event object. Copies share the same object, which lives as long as any copy does, or anything that
/// tidepool has been told to do with it. An event always has its object: moving one copies it.
///
/// Copying costs one atomic increment; no second handle is made, so it cannot fail. As with a pointer, a constant `event`
/// is one that will not name another object; it can still be set, so that a closure that keeps a copy can set it.
///
/// Thread safety: any thread may call any member function at any time, unless this copy itself is being assigned or
/// destroyed. What happened before set() is visible after the wait that it released.
///
/// Win32: the handle of an event object.
class event {
 public:
  /// Throws std::system_error when the system refuses. Win32: CreateEvent.
  explicit event(reset_mode mode, bool initially_set = false);

  event(const event&) noexcept = default;
  event& operator=(const event&) noexcept = default;
  ~event() = default;

  /// Releases every waiting thread (manual reset) or one of them, now or when the next one waits (automatic reset).
  /// Setting a set event changes nothing. Win32: SetEvent.
  void set() const noexcept;

  /// Win32: ResetEvent.
  void reset() const noexcept;

  /// Blocks until the event is set. In a callback that takes a thread away from the pool, which may start another for
  /// it. Win32: WaitForSingleObject.
  void wait() const noexcept;

  /// As wait(), for at most `duration` of monotonic time; returns whether the event was set. Never gives up early. Zero,
  /// a negative duration or NaN only looks; more than 95 years is for ever.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> duration) const noexcept {
    constexpr double for_ever = 3e9;
    const double seconds = std::chrono::duration<double>(duration).count();
    if (!(seconds > 0)) {
      return wait_for_nanoseconds(std::chrono::nanoseconds::zero());
    }
    if (seconds > for_ever) {
      wait();
      return true;
    }
    return wait_for_nanoseconds(std::chrono::ceil<std::chrono::nanoseconds>(duration));
  }

  /// Linux: a descriptor for somebody else's poll loop, which is readable while the event is set. Made on the first call,
  /// and the same for all copies; it belongs to the event and is closed with it. It follows the event, also when a wait
  /// resets it; reading from it or writing to it is not for the caller.
  ///
  /// Throws std::system_error when the system has no descriptor left, and on Windows always
  /// (std::errc::function_not_supported). From the first call on set() and reset() cost a system call.
  [[nodiscard]] int descriptor() const;

  /// Whether both are copies of one event.
  friend bool operator==(const event&, const event&) noexcept = default;

 private:
  friend struct detail::access;

  [[nodiscard]] bool wait_for_nanoseconds(std::chrono::nanoseconds duration) const noexcept;

  std::shared_ptr<void> handle_;
};

}  // namespace tidepool
