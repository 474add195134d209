#include "teardown/callback_chain.hpp"

#include "teardown/context_lifetime.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/pending_event.hpp"

namespace tidepool {

constinit thread_local detail::callback_frame* innermost_callback = nullptr;

void finish_callback(detail::callback_frame& frame) noexcept {
  if (frame.kept != nullptr) {
    give_back(*frame.kept);
  }
  // Last: an event that is set says that everything else is over.
  while (frame.events != nullptr) {
    detail::pending_event* const first = frame.events;
    frame.events = first->next;
    first->what.set();
    delete first;
  }
}

void require_running_here(const detail::callback_frame& frame) noexcept {
  for (const detail::callback_frame* each = innermost_callback; each != nullptr; each = each->outer) {
    if (each == &frame) {
      return;
    }
  }
  fail_fast("a callback_instance was used outside its callback, or on another thread");
}

}  // namespace tidepool

namespace tidepool::detail {

void enter_callback(callback_frame& frame) noexcept { push_callback(frame); }

void leave_callback(callback_frame& frame) noexcept { pop_callback(frame); }

}  // namespace tidepool::detail
