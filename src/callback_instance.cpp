#include "tidepool/callback_instance.hpp"

#include "teardown/callback_chain.hpp"
#include "teardown/context_lifetime.hpp"
#include "teardown/pending_event.hpp"
#include "trace/traced.hpp"
#include "win32.hpp"

namespace tidepool {

bool callback_instance::may_run_long() noexcept {
  require_running_here(frame_);
  return TRACED(CallbackMayRunLong)(frame_.instance) != FALSE;
}

void callback_instance::disassociate() noexcept {
  require_running_here(frame_);
  if (frame_.disassociated) {
    return;
  }
  frame_.disassociated = true;
  // First keep the context, then tell: from that moment on the object's owner may drain it and let go of it.
  if (frame_.context != nullptr) {
    frame_.kept = frame_.context;
    keep(*frame_.kept);
    frame_.context = nullptr;
  }
  TRACED(DisassociateCurrentThreadFromCallback)(frame_.instance);
}

void callback_instance::set_event_when_returns(const event& what) {
  require_running_here(frame_);
  auto* const added = new detail::pending_event{what};
  detail::pending_event** last = &frame_.events;
  while (*last != nullptr) {
    last = &(*last)->next;
  }
  *last = added;
}

}  // namespace tidepool
