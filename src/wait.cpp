#include "tidepool/wait.hpp"

#include "creation.hpp"
#include "last_error.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/group_generation.hpp"
#include "teardown/run_callback.hpp"
#include "wait_operations.hpp"

namespace tidepool {

namespace {

using detail::wait_context;

constexpr const char* moved_from = "a wait was used after it had been moved from";

/// Every callback of every wait begins here. noexcept: an exception that leaves the callable ends the process.
void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WAIT, TP_WAIT_RESULT result) noexcept {
  auto& self = static_cast<wait_context&>(*static_cast<detail::callback_context*>(context));
  if (is_dropped(self)) [[unlikely]] {
    return;
  }
  settle_drain(self);
  detail::wait_frame frame(instance, &self, result == WAIT_TIMEOUT ? wait_result::timed_out : wait_result::signalled);
  call_in_frame(frame);
  rearm_if_asked(self, frame.rearm, [&]() noexcept { arm(self, frame.time_out); });
  pop_callback(frame);
}

}  // namespace

void detail::create_native(wait_context& context, PTP_CALLBACK_ENVIRON environment) {
  require_not_moved_from(access::handle_of(context.handle),
                         "a wait was given a waitable_handle that has been moved from");
  heal::prepare(context.repair, environment->Pool, context.pool);
  context.native = TRACED(CreateThreadpoolWait)(&run, static_cast<callback_context*>(&context), environment);
  if (context.native == nullptr) {
    throw_last_error("CreateThreadpoolWait");
  }
}

wait_result wait_activation::result() const noexcept {
  require_running_here(frame_);
  return frame_.result;
}

void wait_activation::rearm_until(detail::due_time time_out) noexcept {
  require_running_here(frame_);
  note_rearm_request(frame_);
  frame_.rearm = true;
  frame_.time_out = time_out;
}

wait::wait(wait_context& context, const callback_environment& environment) : context_(&context) {
  create(context, environment);
}

wait& wait::operator=(wait&& other) noexcept {
  if (this != &other) {
    replace(context_, std::exchange(other.context_, nullptr));
  }
  return *this;
}

wait::~wait() { tear_down(context_); }

void wait::arm_until(detail::due_time time_out) noexcept {
  require_not_moved_from(context_, moved_from);
  arm_unless_drained(*context_, [&]() noexcept { detail::arm(*context_, time_out); });
}

void wait::disarm() noexcept {
  require_not_moved_from(context_, moved_from);
  detail::disarm(*context_);
}

void wait::wait_for_callbacks() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, false, "wait::wait_for_callbacks");
}

void wait::cancel_pending(bool heal) {
  require_not_moved_from(context_, moved_from);
  detail::cancel_pending(*context_, heal, "wait::try_cancel_pending");
}

void wait::stop_and_drain() {
  require_not_moved_from(context_, moved_from);
  tidepool::stop_and_drain(*context_, "wait::stop_and_drain");
}

native::wait detail::access::native_of(const wait& of) noexcept {
  return of.context_ != nullptr ? of.context_->native : nullptr;
}

bool detail::access::owes_drain(const wait& of) noexcept { return tidepool::owes_drain(*of.context_); }

bool detail::access::owes_repair(const wait& of) noexcept { return heal::is_owed(of.context_->repair); }

void detail::access::cancel_without_healing(wait& what) { what.cancel_pending(false); }

detail::callback_context* detail::access::take_context(wait& of) noexcept { return disown(of.context_); }

}  // namespace tidepool
