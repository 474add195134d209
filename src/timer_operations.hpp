// What is done with a native timer, whoever owns it.
#pragma once

#include <concepts>

#include "file_time.hpp"
#include "last_error.hpp"
#include "teardown/drain.hpp"
#include "tidepool/periodic_timer.hpp"
#include "tidepool/timer.hpp"
#include "trace/armed.hpp"
#include "trace/traced.hpp"
#include "win32.hpp"

namespace tidepool::detail {

template <class Context>
concept timer_context_like = std::same_as<Context, timer_context> || std::same_as<Context, periodic_timer_context>;

template <timer_context_like Context>
void create_native_timer(Context& context, PTP_TIMER_CALLBACK callback, PTP_CALLBACK_ENVIRON environment) {
  context.native = TRACED(CreateThreadpoolTimer)(callback, static_cast<callback_context*>(&context), environment);
  if (context.native == nullptr) {
    throw_last_error("CreateThreadpoolTimer");
  }
}

void create_native(timer_context& context, PTP_CALLBACK_ENVIRON environment);
void create_native(periodic_timer_context& context, PTP_CALLBACK_ENVIRON environment);

/// Windows drops a tick that is queued when the timer is disarmed.
template <timer_context_like Context>
inline constexpr bool disarming_spares_what_is_queued<Context> = false;

template <timer_context_like Context>
void set(Context& context, due_time due, std::uint32_t period, std::uint32_t window) noexcept {
  owe_drain(context);
  recorder::note_armed(context, due, std::same_as<Context, timer_context> ? window : period);
  FILETIME native = file_time(due);
  TRACED(SetThreadpoolTimer)(context.native, &native, period, window);
}

template <timer_context_like Context>
void disarm(Context& context) noexcept {
  recorder::note_of<recorder::action::disarmed>(context);
  TRACED(SetThreadpoolTimer)(context.native, nullptr, 0, 0);
}

template <timer_context_like Context>
[[nodiscard]] bool is_set(const Context& context) noexcept {
  return TRACED(IsThreadpoolTimerSet)(context.native) != FALSE;
}

template <timer_context_like Context>
void wait_for_callbacks(Context& context, bool cancel_pending) noexcept {
  TRACED(WaitForThreadpoolTimerCallbacks)(context.native, cancel_pending);
}

template <timer_context_like Context>
void close_native(Context& context) noexcept {
  TRACED(CloseThreadpoolTimer)(context.native);
}

inline void set(timer_context& context, due_time due, std::uint32_t window) noexcept { set(context, due, 0, window); }

inline void start(periodic_timer_context& context, due_time due, std::uint32_t window) noexcept {
  if (due > 0 && due <= due_at(std::chrono::system_clock::now())) {
    due = 0;  // the ticks since then have been missed, and systems differ in whether they make up for them
  }
  set(context, due, context.period, window);
}

}  // namespace tidepool::detail
