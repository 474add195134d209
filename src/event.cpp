#include "tidepool/event.hpp"

#include <algorithm>
#include <cstdint>

#include "last_error.hpp"
#include "teardown/fail_fast.hpp"
#include "trace/traced.hpp"
#ifndef _WIN32
#include "tidepool/win32/tpextensions.h"
#endif

namespace tidepool {

namespace {

HANDLE create(reset_mode mode, bool initially_set) {
  const HANDLE created = CreateEventW(nullptr, mode == reset_mode::manual, initially_set, nullptr);
  if (created == nullptr) {
    throw_last_error("CreateEvent");
  }
  recorder::note<recorder::kind::event, recorder::action::created>(created);
  return created;
}

/// The handle is ours and valid, so this fails only if somebody closed it under us.
void require(bool succeeded) noexcept {
  if (!succeeded) [[unlikely]] {
    fail_fast("an event's handle has been closed by somebody else");
  }
}

/// Returns whether the event was set within that time, which may have been cut short.
bool wait_for_milliseconds(HANDLE event, DWORD milliseconds) noexcept {
  const DWORD result = TRACED(WaitForSingleObject)(event, milliseconds);
  require(result == WAIT_OBJECT_0 || result == WAIT_TIMEOUT);
  return result == WAIT_OBJECT_0;
}

}  // namespace

event::event(reset_mode mode, bool initially_set)
    : handle_(create(mode, initially_set), [](HANDLE owned) {
        recorder::note<recorder::kind::event, recorder::action::closed>(owned);
        CloseHandle(owned);
      }) {}

void event::set() const noexcept {
  recorder::note<recorder::kind::event, recorder::action::set>(handle_.get());
  require(SetEvent(handle_.get()) != FALSE);
}

void event::reset() const noexcept {
  recorder::note<recorder::kind::event, recorder::action::reset>(handle_.get());
  require(ResetEvent(handle_.get()) != FALSE);
}

void event::wait() const noexcept { wait_for_milliseconds(handle_.get(), INFINITE); }

bool event::wait_for_nanoseconds(std::chrono::nanoseconds duration) const noexcept {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  constexpr milliseconds longest_single_wait{INFINITE - 1};
  const steady_clock::time_point deadline =
      duration.count() > 0 ? steady_clock::now() + std::chrono::ceil<steady_clock::duration>(duration)
                           : steady_clock::time_point::min();
  while (true) {
    const steady_clock::duration left =
        duration.count() > 0 ? deadline - steady_clock::now() : steady_clock::duration::zero();
    const milliseconds time =
        std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds::zero(), longest_single_wait);
    if (wait_for_milliseconds(handle_.get(), static_cast<DWORD>(time.count()))) {
      return true;
    }
    // The system counts in ticks of its own clock and may return a little early; what counts is ours.
    if (left <= steady_clock::duration::zero()) {
      return false;
    }
  }
}

int event::descriptor() const {
#ifndef _WIN32
  const int descriptor = TidepoolEventDescriptor(handle_.get());
  if (descriptor < 0) {
    throw_last_error("TidepoolEventDescriptor");
  }
  return descriptor;
#else
  throw std::system_error(std::make_error_code(std::errc::function_not_supported), "event::descriptor");
#endif
}

}  // namespace tidepool
