// What a wait can wait for.
#pragma once

#include <memory>

#include "tidepool/event.hpp"
#include "tidepool/native.hpp"

namespace tidepool {

/// A handle that is known to be fit for a wait, and the duty to close it. One comes from an event, from a descriptor whose
/// kind has been looked at (Linux), or from tidepool::unsafe, whose caller vouches for it. There is no way from a mutex:
/// the thread pool does not support waits on one.
///
/// The handle is closed exactly once, by whoever holds it in the end: this object, or the wait that it was given to, after
/// its last callback. A moved-from waitable_handle can be destroyed and assigned to; making a wait of it ends the
/// process with a message.
///
/// Thread safety: as for int.
///
/// Win32: a HANDLE that RegisterWaitForSingleObject and SetThreadpoolWait accept.
class waitable_handle {
 public:
  /// The event itself, not a duplicate: the object that the event's copies share is signalled by any of them, and
  /// lives as long as this does. Implicit, so that a wait can be made from an event. Never fails.
  explicit(false) waitable_handle(const event& from) noexcept;

  /// Linux: a duplicate of a descriptor, which the wait finds signalled while there is something to read, or an
  /// error or a hang-up to be noticed. The caller keeps his own, and may close it at once. Accepts eventfd, pidfd,
  /// timerfd, inotify, sockets and pipes; they are looked at, not read.
  ///
  /// Throws std::system_error: with code ERROR_INVALID_HANDLE of win32_category() for a number that is no descriptor,
  /// std::errc::not_supported for any other kind of descriptor, and on Windows for any number; and when the system has
  /// no descriptor left.
  [[nodiscard]] static waitable_handle from_descriptor(int descriptor);

  waitable_handle(waitable_handle&& other) noexcept;
  waitable_handle& operator=(waitable_handle&& other) noexcept;

  waitable_handle(const waitable_handle&) = delete;
  waitable_handle& operator=(const waitable_handle&) = delete;

  /// Closes what it holds.
  ~waitable_handle();

 private:
  friend struct detail::access;

  waitable_handle(native::handle owned, native::close_routine routine) noexcept : handle_(owned), close_(routine) {}

  void close() noexcept;

  native::handle handle_;
  native::close_routine close_ = nullptr;  // null: CloseHandle
  std::shared_ptr<void> event_;            // an event's; keeps handle_ open, which then nobody else closes
};

}  // namespace tidepool
