// The callbacks that are running on this thread.
#pragma once

#include "tidepool/detail/callback_context.hpp"
#include "tidepool/detail/callback_frame.hpp"

namespace tidepool {

/// The innermost frame of the calling thread. Trivial, so that it is there in every constructor and destructor.
extern thread_local constinit detail::callback_frame* innermost_callback
#ifdef __ELF__
    __attribute__((tls_model("initial-exec")))
#endif
    ;

/// Does what is left to do for a frame that is no longer in the chain.
void finish_callback(detail::callback_frame& frame) noexcept;

inline void push_callback(detail::callback_frame& frame) noexcept {
  frame.outer = innermost_callback;
  innermost_callback = &frame;
}

inline void pop_callback(detail::callback_frame& frame) noexcept {
  innermost_callback = frame.outer;
  if (frame.kept != nullptr || frame.events != nullptr) [[unlikely]] {
    finish_callback(frame);
  }
}

/// Whether the calling thread is inside a callback of `context` that drains of it wait for.
[[nodiscard]] inline bool runs_on_this_thread(const detail::callback_context& context) noexcept {
  const detail::callback_frame* frame = innermost_callback;
  while (frame != nullptr && frame->context != &context) {
    frame = frame->outer;
  }
  return frame != nullptr;
}

/// Ends the process unless the frame belongs to a callback that is running on this thread. `frame` need not exist any
/// more.
void require_running_here(const detail::callback_frame& frame) noexcept;

}  // namespace tidepool
