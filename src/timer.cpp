#include "tidepool/timer.hpp"

#include "creation.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/group_generation.hpp"
#include "teardown/run_callback.hpp"
#include "timer_operations.hpp"

namespace tidepool {

namespace {

using detail::timer_context;

constexpr const char* moved_from = "a timer was used after it had been moved from";

/// Every callback of every timer begins here. noexcept: an exception that leaves the callable ends the process.
void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_TIMER) noexcept {
  auto& self = static_cast<timer_context&>(*static_cast<detail::callback_context*>(context));
  if (is_dropped(self)) [[unlikely]] {
    return;
  }
  settle_drain(self);
  detail::timer_frame frame(instance, &self);
  call_in_frame(frame);
  rearm_if_asked(self, frame.rearm, [&]() noexcept { set(self, frame.due, 0); });
  pop_callback(frame);
}

}  // namespace

void detail::create_native(timer_context& context, PTP_CALLBACK_ENVIRON environment) {
  create_native_timer(context, &run, environment);
}

void timer_firing::rearm(detail::due_time due) noexcept {
  require_running_here(frame_);
  note_rearm_request(frame_);
  frame_.rearm = true;
  frame_.due = due;
}

timer::timer(timer_context& context, const callback_environment& environment) : context_(&context) {
  create(context, environment);
}

timer& timer::operator=(timer&& other) noexcept {
  if (this != &other) {
    replace(context_, std::exchange(other.context_, nullptr));
  }
  return *this;
}

timer::~timer() { tear_down(context_); }

void timer::set(detail::due_time due, std::uint32_t window) noexcept {
  require_not_moved_from(context_, moved_from);
  arm_unless_drained(*context_, [&]() noexcept { detail::set(*context_, due, window); });
}

void timer::disarm() noexcept {
  require_not_moved_from(context_, moved_from);
  detail::disarm(*context_);
}

bool timer::is_set() const noexcept {
  require_not_moved_from(context_, moved_from);
  return detail::is_set(*context_);
}

void timer::wait_for_callbacks() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, false, "timer::wait_for_callbacks");
}

void timer::cancel_pending() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, true, "timer::cancel_pending");
}

void timer::stop_and_drain() {
  require_not_moved_from(context_, moved_from);
  tidepool::stop_and_drain(*context_, "timer::stop_and_drain");
}

native::timer detail::access::native_of(const timer& of) noexcept {
  return of.context_ != nullptr ? of.context_->native : nullptr;
}

bool detail::access::owes_drain(const timer& of) noexcept { return tidepool::owes_drain(*of.context_); }

detail::callback_context* detail::access::take_context(timer& of) noexcept { return disown(of.context_); }

}  // namespace tidepool
