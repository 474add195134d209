// What is done with native work, whoever owns it.
#pragma once

#include "teardown/drain.hpp"
#include "tidepool/work.hpp"
#include "trace/traced.hpp"
#include "win32.hpp"

namespace tidepool::detail {

void create_native(work_context& context, PTP_CALLBACK_ENVIRON environment);

TIDEPOOL_COLD inline void submit_recorded(work_context& context) noexcept {
  recorder::note_of<recorder::action::submitted>(context);
  TRACED(SubmitThreadpoolWork)(context.native);
}

inline void submit(work_context& context) noexcept {
  owe_drain(context);
  // Elsewhere, so that nobody who records nothing keeps the context over a call.
  if (recorder::is_on(recorder::categories_of_objects<recorder::action::submitted>)) [[unlikely]] {
    submit_recorded(context);
    return;
  }
  TRACED(SubmitThreadpoolWork)(context.native);
}

inline void wait_for_callbacks(work_context& context, bool cancel_pending) noexcept {
  TRACED(WaitForThreadpoolWorkCallbacks)(context.native, cancel_pending);
}

inline void close_native(work_context& context) noexcept { TRACED(CloseThreadpoolWork)(context.native); }

}  // namespace tidepool::detail
