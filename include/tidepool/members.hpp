// Handles of what belongs to a cleanup_group.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "tidepool/detail/consumed.hpp"
#include "tidepool/detail/due_time.hpp"
#include "tidepool/detail/healing.hpp"
#include "tidepool/detail/member_reference.hpp"
#include "tidepool/native.hpp"

namespace tidepool {

// A handle names a member of a cleanup_group; it owns nothing but its name. Copies name the same member, and can be kept
// in its own callback without keeping it alive. The operations are those of the object that the member is, and do the
// same, with these differences:
//
// - The group ends the member. From the moment at which cleanup_group::close_members() begins, and ever after, each
//   operation throws std::system_error (std::errc::operation_not_permitted) with a message that says where the member
//   was created. It touches nothing of the member then. (A destructor of captured state that uses a handle of its own
//   group has to catch that.) Only the callbacks of the group's own members, unless they have called
//   callback_instance::disassociate(), can go on using their group's handles until they return: what they want to have
//   armed is discarded, what they submit runs too (unless the closing cancels), and the rest works as ever.
// - Where the compiler is clang with -Wconsumed, a handle that is used after it has been given to close_members(), or
//   after it has been moved from, is found when it is compiled.
//
// Thread safety: any thread may call any member function of any handle at any time, also while the group is being
// closed or destroyed; one handle object that is assigned to, moved from or destroyed must be alone. Cost: two
// uncontended atomic operations beside those of the object. A handle that has been moved from can be destroyed and
// assigned to; any other use of it ends the process with a message.

/// Names a member that is work. See the top of this file, and work for each operation.
class TIDEPOOL_CONSUMABLE work_member {
 public:
  /// As work::submit().
  TIDEPOOL_UNLESS_CONSUMED void submit() const;
  /// As work::wait_for_callbacks().
  TIDEPOOL_UNLESS_CONSUMED void wait_for_callbacks() const;
  /// As work::cancel_pending().
  TIDEPOOL_UNLESS_CONSUMED void cancel_pending() const;
  /// As work::stop_and_drain(). The member stays one, and can be submitted again.
  TIDEPOOL_UNLESS_CONSUMED void stop_and_drain() const;

 private:
  friend class cleanup_group;

  explicit work_member(detail::member_reference named) noexcept : reference_(std::move(named)) {}

  TIDEPOOL_CONSUMES void give_up() const noexcept {}

  detail::member_reference reference_;
};

/// Names a member that is a timer. See the top of this file, and timer for each operation.
class TIDEPOOL_CONSUMABLE timer_member {
 public:
  /// As timer::set_after().
  template <class Rep, class Period>
  TIDEPOOL_UNLESS_CONSUMED void set_after(std::chrono::duration<Rep, Period> duration) const {
    set(detail::due_after(duration), 0, "timer_member::set_after");
  }
  /// As timer::set_after_with_window().
  template <class Rep, class Period, class WindowRep, class WindowPeriod>
  TIDEPOOL_UNLESS_CONSUMED void set_after_with_window(std::chrono::duration<Rep, Period> duration,
                                                      std::chrono::duration<WindowRep, WindowPeriod> window) const {
    set(detail::due_after(duration), detail::window_length(window), "timer_member::set_after_with_window");
  }
  /// As timer::set_at().
  template <class Duration>
  TIDEPOOL_UNLESS_CONSUMED void set_at(std::chrono::time_point<std::chrono::system_clock, Duration> time) const {
    set(detail::due_at(time), 0, "timer_member::set_at");
  }
  /// As timer::disarm().
  TIDEPOOL_UNLESS_CONSUMED void disarm() const;
  /// As timer::is_set().
  [[nodiscard]] TIDEPOOL_UNLESS_CONSUMED bool is_set() const;
  /// As timer::wait_for_callbacks().
  TIDEPOOL_UNLESS_CONSUMED void wait_for_callbacks() const;
  /// As timer::cancel_pending().
  TIDEPOOL_UNLESS_CONSUMED void cancel_pending() const;
  /// As timer::stop_and_drain(). The member stays one, and can be set again.
  TIDEPOOL_UNLESS_CONSUMED void stop_and_drain() const;

 private:
  friend class cleanup_group;

  explicit timer_member(detail::member_reference named) noexcept : reference_(std::move(named)) {}

  TIDEPOOL_CONSUMES void give_up() const noexcept {}

  void set(detail::due_time due, std::uint32_t window, const char* function) const;

  detail::member_reference reference_;
};

/// Names a member that is a periodic timer. See the top of this file, and periodic_timer for each operation.
class TIDEPOOL_CONSUMABLE periodic_timer_member {
 public:
  /// As periodic_timer::start().
  TIDEPOOL_UNLESS_CONSUMED void start() const { start_after_period(0, "periodic_timer_member::start"); }
  /// As periodic_timer::start_after().
  template <class Rep, class Period>
  TIDEPOOL_UNLESS_CONSUMED void start_after(std::chrono::duration<Rep, Period> duration) const {
    start(detail::due_after(duration), 0, "periodic_timer_member::start_after");
  }
  /// As periodic_timer::start_at().
  template <class Duration>
  TIDEPOOL_UNLESS_CONSUMED void start_at(std::chrono::time_point<std::chrono::system_clock, Duration> time) const {
    start(detail::due_at(time), 0, "periodic_timer_member::start_at");
  }
  /// As periodic_timer::start_with_window().
  template <class Rep, class Period>
  TIDEPOOL_UNLESS_CONSUMED void start_with_window(std::chrono::duration<Rep, Period> window) const {
    start_after_period(detail::window_length(window), "periodic_timer_member::start_with_window");
  }
  /// As periodic_timer::stop().
  TIDEPOOL_UNLESS_CONSUMED void stop() const;
  /// As periodic_timer::is_running().
  [[nodiscard]] TIDEPOOL_UNLESS_CONSUMED bool is_running() const;
  /// As periodic_timer::period().
  [[nodiscard]] TIDEPOOL_UNLESS_CONSUMED std::chrono::milliseconds period() const;
  /// As periodic_timer::wait_for_callbacks().
  TIDEPOOL_UNLESS_CONSUMED void wait_for_callbacks() const;
  /// As periodic_timer::cancel_pending().
  TIDEPOOL_UNLESS_CONSUMED void cancel_pending() const;
  /// As periodic_timer::stop_and_drain(). The member stays one, and can be started again.
  TIDEPOOL_UNLESS_CONSUMED void stop_and_drain() const;

 private:
  friend class cleanup_group;

  explicit periodic_timer_member(detail::member_reference named) noexcept : reference_(std::move(named)) {}

  TIDEPOOL_CONSUMES void give_up() const noexcept {}

  void start(detail::due_time due, std::uint32_t window, const char* function) const;
  void start_after_period(std::uint32_t window, const char* function) const;

  detail::member_reference reference_;
};

/// Names a member that is a wait. See the top of this file, and wait for each operation.
class TIDEPOOL_CONSUMABLE wait_member {
 public:
  /// As wait::arm().
  TIDEPOOL_UNLESS_CONSUMED void arm() const { arm_until(detail::without_end); }
  /// As wait::arm() with a time-out.
  template <class Rep, class Period>
  TIDEPOOL_UNLESS_CONSUMED void arm(std::chrono::duration<Rep, Period> time_out) const {
    arm_until(detail::time_out_after(time_out));
  }
  /// As wait::disarm().
  TIDEPOOL_UNLESS_CONSUMED void disarm() const;
  /// As wait::wait_for_callbacks().
  TIDEPOOL_UNLESS_CONSUMED void wait_for_callbacks() const;
  /// As wait::try_cancel_pending().
#ifndef TIDEPOOL_NO_SELF_HEAL
  TIDEPOOL_UNLESS_CONSUMED void try_cancel_pending() const { cancel_pending(true); }
#else
  template <class Never = void>
  void try_cancel_pending() const {
    static_assert(detail::repairs<Never>, TIDEPOOL_NOT_REPAIRED);
  }
#endif
  /// As wait::stop_and_drain(). The member stays one, and can be armed again.
  TIDEPOOL_UNLESS_CONSUMED void stop_and_drain() const;

 private:
  friend class cleanup_group;
  friend struct detail::access;

  explicit wait_member(detail::member_reference named) noexcept : reference_(std::move(named)) {}

  TIDEPOOL_CONSUMES void give_up() const noexcept {}

  void arm_until(detail::due_time time_out) const;
  void cancel_pending(bool heal) const;

  detail::member_reference reference_;
};

}  // namespace tidepool
