// The run of an object's callback.
#pragma once

#include "teardown/callback_chain.hpp"
#include "trace/objects.hpp"

namespace tidepool {

/// One test for both records, and out of the way of whoever records nothing. The context is there until the frame is taken
/// out.
template <class What>
TIDEPOOL_COLD void call_recorded(const detail::callback_context& context, What& what) {
  recorder::note_site_of<recorder::action::enter>(context);
  what();
  recorder::note_of<recorder::action::leave>(context);
}

/// Calls `what` in the frame of the context's callback. Between that and pop_callback(), which may destroy the context,
/// comes what the callback has asked for.
template <class What>
void call_in_frame(detail::callback_frame& frame, What what) {
  push_callback(frame);
  if (recorder::is_on(recorder::categories_of_objects<recorder::action::enter>)) [[unlikely]] {
    call_recorded(*frame.context, what);
  } else {
    what();
  }
}

inline void call_in_frame(detail::callback_frame& frame) {
  detail::callback_context& context = *frame.context;
  call_in_frame(frame, [&] { context.call_callable(context, frame); });
}

inline void note_rearm_request(const detail::callback_frame& frame) noexcept {
  recorder::note_of<recorder::action::rearm_requested>(*(frame.context != nullptr ? frame.context : frame.kept));
}

/// Arms the object again if its callback has asked for that, unless a drain is in progress.
template <class Context, class Arm>
void rearm_if_asked(Context& context, bool asked, Arm arm) noexcept {
  if (!asked) {
    return;
  }
  const bool armed = context.gate.rearm([&]() noexcept {
    recorder::note_of<recorder::action::rearm_enter>(context);
    arm();
    recorder::note_of<recorder::action::rearm_leave>(context);
  });
  if (!armed) {
    recorder::note_of<recorder::action::rearm_suppressed>(context);
  }
}

}  // namespace tidepool
