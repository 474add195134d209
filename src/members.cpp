#include "tidepool/members.hpp"

#include <string>
#include <system_error>

#include "teardown/fail_fast.hpp"
#include "teardown/group_generation.hpp"
#include "timer_operations.hpp"
#include "wait_operations.hpp"
#include "work_operations.hpp"

namespace tidepool {

namespace {

using detail::member_record;
using detail::periodic_timer_context;
using detail::timer_context;
using detail::wait_context;
using detail::work_context;

[[noreturn]] void refuse(const member_record& record, const char* function) {
  throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                          std::string(function) + ": the cleanup_group of this " + name_of(record.kind) + ", " +
                              created_at(record.created_at) + ", has closed its members");
}

void leave(member_record& record) noexcept {
  // Release: the operation comes before the closing that finds it over. Acquire, with the flag: see enter.
  const std::uint32_t before = record.uses.fetch_sub(member_record::one_use, std::memory_order_acq_rel);
  if ((before & (member_record::closing | member_record::released)) == member_record::closing) [[unlikely]] {
    tell_departure();
  }
}

/// An operation on a member. While it lasts the member is there: since the closing waits for it, or for the callback
/// that it is part of.
template <class Context>
class member_use {
 public:
  member_use(const detail::member_reference& handle, const char* function) : record_(*require(handle)) {
    // Acquire: pairs with the setting of the flags, whose reasons are seen with them.
    const std::uint32_t before = record_.uses.fetch_add(member_record::one_use, std::memory_order_acquire);
    if ((before & (member_record::closing | member_record::released)) != 0) [[unlikely]] {
      leave(record_);
      // Whoever runs in a callback of the member's own generation keeps it from being released. Nobody else may look at
      // the member. Where that has been released, a later generation may have taken its own one's address.
      if ((before & member_record::released) != 0 || !runs_in_callback_of(record_.generation)) {
        refuse(record_, function);
      }
      late_ = true;
    }
  }
  member_use(const member_use&) = delete;
  member_use& operator=(const member_use&) = delete;
  ~member_use() {
    if (!late_) {
      leave(record_);
    }
  }

  [[nodiscard]] Context& context() const noexcept { return static_cast<Context&>(record_.context); }
  /// By a callback of the group, which is being closed.
  [[nodiscard]] bool is_late() const noexcept { return late_; }

 private:
  static member_record* require(const detail::member_reference& handle) noexcept {
    require_not_moved_from(handle.record(), "a handle of a member was used after it had been moved from");
    return handle.record();
  }

  member_record& record_;
  bool late_ = false;
};

/// The body of everything that arms.
template <class Context, class Arm>
void arm_member(const detail::member_reference& handle, const char* function, Arm how) {
  const member_use<Context> use(handle, function);
  if (!use.is_late()) {
    arm_unless_drained(use.context(), [&]() noexcept { how(use.context()); });
  }
}

template <class Context>
void drain_member(const detail::member_reference& handle, bool cancel_pending, const char* function) {
  const member_use<Context> use(handle, function);
  drain(use.context(), cancel_pending, function);
}

template <class Context>
void stop_and_drain_member(const detail::member_reference& handle, const char* function) {
  const member_use<Context> use(handle, function);
  stop_and_drain(use.context(), function);
}

}  // namespace

// ---- work ----------------------------------------------------------------------------------------------

void work_member::submit() const {
  const member_use<work_context> use(reference_, "work_member::submit");
  detail::group_generation& generation = *use.context().group;
  if (!use.is_late()) [[likely]] {
    detail::submit(use.context());
  } else if (!generation.cancelling.load(std::memory_order_relaxed)) {  // published by `closing`
    detail::submit(use.context());
    generation.late_submissions.fetch_add(1, std::memory_order_relaxed);
  }
}

void work_member::wait_for_callbacks() const {
  drain_member<work_context>(reference_, false, "work_member::wait_for_callbacks");
}

void work_member::cancel_pending() const {
  drain_member<work_context>(reference_, true, "work_member::cancel_pending");
}

void work_member::stop_and_drain() const {
  stop_and_drain_member<work_context>(reference_, "work_member::stop_and_drain");
}

// ---- timers --------------------------------------------------------------------------------------------

void timer_member::set(detail::due_time due, std::uint32_t window, const char* function) const {
  arm_member<timer_context>(reference_, function,
                            [&](timer_context& context) noexcept { detail::set(context, due, window); });
}

void timer_member::disarm() const {
  const member_use<timer_context> use(reference_, "timer_member::disarm");
  detail::disarm(use.context());
}

bool timer_member::is_set() const {
  const member_use<timer_context> use(reference_, "timer_member::is_set");
  return detail::is_set(use.context());
}

void timer_member::wait_for_callbacks() const {
  drain_member<timer_context>(reference_, false, "timer_member::wait_for_callbacks");
}

void timer_member::cancel_pending() const {
  drain_member<timer_context>(reference_, true, "timer_member::cancel_pending");
}

void timer_member::stop_and_drain() const {
  stop_and_drain_member<timer_context>(reference_, "timer_member::stop_and_drain");
}

// ---- periodic timers -----------------------------------------------------------------------------------

void periodic_timer_member::start(detail::due_time due, std::uint32_t window, const char* function) const {
  arm_member<periodic_timer_context>(
      reference_, function, [&](periodic_timer_context& context) noexcept { detail::start(context, due, window); });
}

void periodic_timer_member::start_after_period(std::uint32_t window, const char* function) const {
  arm_member<periodic_timer_context>(reference_, function, [&](periodic_timer_context& context) noexcept {
    detail::start(context, detail::due_after(std::chrono::milliseconds(context.period)), window);
  });
}

void periodic_timer_member::stop() const {
  const member_use<periodic_timer_context> use(reference_, "periodic_timer_member::stop");
  detail::disarm(use.context());
}

bool periodic_timer_member::is_running() const {
  const member_use<periodic_timer_context> use(reference_, "periodic_timer_member::is_running");
  return detail::is_set(use.context());
}

std::chrono::milliseconds periodic_timer_member::period() const {
  const member_use<periodic_timer_context> use(reference_, "periodic_timer_member::period");
  return std::chrono::milliseconds(use.context().period);
}

void periodic_timer_member::wait_for_callbacks() const {
  drain_member<periodic_timer_context>(reference_, false, "periodic_timer_member::wait_for_callbacks");
}

void periodic_timer_member::cancel_pending() const {
  drain_member<periodic_timer_context>(reference_, true, "periodic_timer_member::cancel_pending");
}

void periodic_timer_member::stop_and_drain() const {
  stop_and_drain_member<periodic_timer_context>(reference_, "periodic_timer_member::stop_and_drain");
}

// ---- waits ---------------------------------------------------------------------------------------------

void wait_member::arm_until(detail::due_time time_out) const {
  arm_member<wait_context>(reference_, "wait_member::arm",
                           [&](wait_context& context) noexcept { detail::arm(context, time_out); });
}

void wait_member::disarm() const {
  const member_use<wait_context> use(reference_, "wait_member::disarm");
  detail::disarm(use.context());
}

void wait_member::wait_for_callbacks() const {
  drain_member<wait_context>(reference_, false, "wait_member::wait_for_callbacks");
}

void wait_member::cancel_pending(bool heal) const {
  const member_use<wait_context> use(reference_, "wait_member::try_cancel_pending");
  detail::cancel_pending(use.context(), heal, "wait_member::try_cancel_pending");
}

void detail::access::cancel_without_healing(const wait_member& what) { what.cancel_pending(false); }

void wait_member::stop_and_drain() const {
  stop_and_drain_member<wait_context>(reference_, "wait_member::stop_and_drain");
}

}  // namespace tidepool

namespace tidepool::detail {

member_reference::member_reference(const member_reference& other) noexcept : record_(other.record_) {
  if (record_ != nullptr) {
    record_->references.add();
  }
}

member_reference::~member_reference() {
  if (record_ != nullptr) {
    give_back(*record_);
  }
}

}  // namespace tidepool::detail
