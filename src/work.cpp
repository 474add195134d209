#include "tidepool/work.hpp"

#include "creation.hpp"
#include "last_error.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/group_generation.hpp"
#include "teardown/run_callback.hpp"
#include "work_operations.hpp"

namespace tidepool {

namespace {

constexpr const char* moved_from = "a work was used after it had been moved from";

/// Every callback of every work begins here. noexcept: an exception that leaves the callable ends the process.
void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK) noexcept {
  auto& self = *static_cast<detail::callback_context*>(context);
  if (is_dropped(self)) [[unlikely]] {
    return;
  }
  detail::callback_frame frame(instance, &self);
  call_in_frame(frame);
  pop_callback(frame);
}

}  // namespace

void detail::create_native(work_context& context, PTP_CALLBACK_ENVIRON environment) {
  context.native = TRACED(CreateThreadpoolWork)(&run, static_cast<callback_context*>(&context), environment);
  if (context.native == nullptr) {
    throw_last_error("CreateThreadpoolWork");
  }
}

work::work(detail::work_context& context, const callback_environment& environment) : context_(&context) {
  create(context, environment);
}

work& work::operator=(work&& other) noexcept {
  if (this != &other) {
    replace(context_, std::exchange(other.context_, nullptr));
  }
  return *this;
}

work::~work() { tear_down(context_); }

void work::submit() noexcept {
  require_not_moved_from(context_, moved_from);
  detail::submit(*context_);
}

void work::wait_for_callbacks() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, false, "work::wait_for_callbacks");
}

void work::cancel_pending() {
  require_not_moved_from(context_, moved_from);
  drain(*context_, true, "work::cancel_pending");
}

void work::stop_and_drain() {
  require_not_moved_from(context_, moved_from);
  tidepool::stop_and_drain(*context_, "work::stop_and_drain");
}

native::work detail::access::native_of(const work& of) noexcept {
  return of.context_ != nullptr ? of.context_->native : nullptr;
}

bool detail::access::owes_drain(const work& of) noexcept { return tidepool::owes_drain(*of.context_); }

detail::callback_context* detail::access::take_context(work& of) noexcept { return disown(of.context_); }

}  // namespace tidepool
