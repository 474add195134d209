// What is done with a native wait, whoever owns it.
#pragma once

#include "file_time.hpp"
#include "teardown/drain.hpp"
#include "tidepool/wait.hpp"
#include "trace/armed.hpp"
#include "trace/traced.hpp"
#include "win32.hpp"

namespace tidepool::detail {

void create_native(wait_context& context, PTP_CALLBACK_ENVIRON environment);

inline void arm(wait_context& context, due_time time_out) noexcept {
  owe_drain(context);
  const HANDLE handle = access::handle_of(context.handle);
  recorder::note_armed(context, handle, time_out);
  FILETIME native = file_time(time_out);
  TRACED(SetThreadpoolWait)(context.native, handle, time_out == without_end ? nullptr : &native);
}

inline void disarm(wait_context& context) noexcept {
  recorder::note_of<recorder::action::disarmed>(context);
  TRACED(SetThreadpoolWait)(context.native, nullptr, nullptr);
}

inline void wait_for_callbacks(wait_context& context, bool cancel_pending) noexcept {
  TRACED(WaitForThreadpoolWaitCallbacks)(context.native, cancel_pending);
}

inline void cancel_pending(wait_context& context, bool heal, const char* function) {
  refuse_self_drain(context, function);
  drop_pending(context, heal);
}

inline void close_native(wait_context& context) noexcept { TRACED(CloseThreadpoolWait)(context.native); }

}  // namespace tidepool::detail
