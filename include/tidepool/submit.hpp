// One-off callbacks.
#pragma once

#include <utility>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/detail/one_off.hpp"

namespace tidepool {

/// Runs a copy of `callable` once, on a thread of the process's default pool. The callable takes no argument or a
/// `callback_instance&`, may be move-only, and what it returns is dropped. It is destroyed on the pool's thread, after
/// it has returned.
///
/// Nothing waits for a one-off: what it refers to must outlive it by other means, such as an event that it sets
/// (callback_instance::set_event_when_returns). An exception that leaves the callback ends the process by
/// std::terminate, with its message on the standard error stream.
///
/// Throws std::system_error when the callback can not be queued (std::errc::not_enough_memory is the usual reason), and
/// what copying or moving the callable throws; the callback will not run then, and the copy has been destroyed.
///
/// Any thread may call it, callbacks included. On Linux a callable that is trivially copyable and
/// no larger than four pointers travels in the queue itself (on Windows: than one pointer); any other costs a block from
/// memory that each thread has at hand, or from the heap if it is larger than 256 bytes. Win32: TrySubmitThreadpoolCallback.
template <class F>
void submit(F&& callable) {
  detail::submit_one_off(std::forward<F>(callable), nullptr);
}

/// The same with the pool, the priority and the hints of `environment`, which is read now and not kept. The pool lives
/// at least until the callback has returned.
template <class F>
void submit(F&& callable, const callback_environment& environment) {
  detail::submit_one_off(std::forward<F>(callable), &environment);
}

}  // namespace tidepool
