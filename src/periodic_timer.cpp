#include "tidepool/periodic_timer.hpp"

#include "creation.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/group_generation.hpp"
#include "teardown/run_callback.hpp"
#include "timer_operations.hpp"

namespace tidepool {

namespace {

using detail::periodic_timer_context;

constexpr const char* moved_from = "a periodic_timer was used after it had been moved from";

/// Every tick of every periodic timer begins here. noexcept: an exception that leaves the callable ends the process.
void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_TIMER) noexcept {
  auto& self = static_cast<periodic_timer_context&>(*static_cast<detail::callback_context*>(context));
  if (is_dropped(self)) [[unlikely]] {
    return;
  }
  // A drain lets the queued tick run before it disarms; without this the ticks of a callback that takes longer than the
  // period would never let it come to that.
  self.gate.stop_if_drained([&]() noexcept { disarm(self); });
  detail::callback_frame frame(instance, &self);
  call_in_frame(frame);
  pop_callback(frame);
}

}  // namespace

void detail::throw_bad_period() {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                          "the period of a periodic_timer is between 1 and 4294967295 milliseconds");
}

void detail::create_native(periodic_timer_context& context, PTP_CALLBACK_ENVIRON environment) {
  create_native_timer(context, &run, environment);
}

void periodic_tick::stop() noexcept {
  require_running_here(frame_);
  auto& context = static_cast<periodic_timer_context&>(*(frame_.context != nullptr ? frame_.context : frame_.kept));
  context.gate.stop([&]() noexcept { disarm(context); });
}

periodic_timer::periodic_timer(periodic_timer_context& context, const callback_environment& environment)
    : context_(&context) {
  create(context, environment);
}

periodic_timer& periodic_timer::operator=(periodic_timer&& other) noexcept {
  if (this != &other) {
    replace(context_, std::exchange(other.context_, nullptr));
  }
  return *this;
}

periodic_timer::~periodic_timer() { tear_down(context_); }

void periodic_timer::start() noexcept { start(detail::due_after(period()), 0); }

void periodic_timer::start(detail::due_time due, std::uint32_t window) noexcept {
  require_not_moved_from(context_, moved_from);
  arm_unless_drained(*context_, [&]() noexcept { detail::start(*context_, due, window); });
}

void periodic_timer::stop() noexcept {
  require_not_moved_from(context_, moved_from);
  disarm(*context_);
}

bool periodic_timer::is_running() const noexcept {
  require_not_moved_from(context_, moved_from);
  return is_set(*context_);
}

std::chrono::milliseconds periodic_timer::period() const noexcept {
  require_not_moved_from(context_, moved_from);
  return std::chrono::milliseconds(context_->period);
}

void periodic_timer::wait_for_callbacks() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, false, "periodic_timer::wait_for_callbacks");
}

void periodic_timer::cancel_pending() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, true, "periodic_timer::cancel_pending");
}

void periodic_timer::stop_and_drain() {
  require_not_moved_from(context_, moved_from);
  tidepool::stop_and_drain(*context_, "periodic_timer::stop_and_drain");
}

native::timer detail::access::native_of(const periodic_timer& of) noexcept {
  return of.context_ != nullptr ? of.context_->native : nullptr;
}

bool detail::access::owes_drain(const periodic_timer& of) noexcept { return tidepool::owes_drain(*of.context_); }

detail::callback_context* detail::access::take_context(periodic_timer& of) noexcept { return disown(of.context_); }

}  // namespace tidepool
