// What a running callback keeps on its stack.
#pragma once

#include "tidepool/native.hpp"

namespace tidepool::detail {

struct callback_context;
struct pending_event;

/// One run of a callback. Frames of a thread form a chain, so that an object can tell that it is being drained from
/// inside its own callback, and a callback_instance that it is used where it may be.
struct callback_frame {
  callback_frame(native::callback_instance of, callback_context* object) noexcept : instance(of), context(object) {}
  callback_frame(const callback_frame&) = delete;
  callback_frame& operator=(const callback_frame&) = delete;

  native::callback_instance instance;
  callback_context* context;         // whose callback it is; null for a one-off, and once disassociated
  callback_frame* outer = nullptr;   // the thread's next older callback
  callback_context* kept = nullptr;  // a context whose owner no longer waits for this run
  pending_event* events = nullptr;   // to be set at the end
  bool disassociated = false;
};

/// Puts a frame at the head of the thread's chain, before the callable is called.
void enter_callback(callback_frame& frame) noexcept;

/// Takes it out again, and does what was asked for when the callback returns.
void leave_callback(callback_frame& frame) noexcept;

}  // namespace tidepool::detail
