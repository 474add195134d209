// What a record can say. docs/reference/trace.md lists it for those who read captures, and a test holds that page against
// a capture.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>

namespace tidepool::recorder {

/// What a record is about.
enum class kind : std::uint8_t {
  work,
  one_off,
  timer,
  periodic_timer,
  wait,
  io,
  group,
  pool,
  event,
  worker,
  call,
  exception,
};
inline constexpr const char* kind_names[] = {"work",  "one-off", "timer", "periodic_timer", "wait", "io",
                                             "group", "pool",    "event", "worker",         "call", "exception"};

enum class action : std::uint8_t {
  created,
  submitted,
  armed,
  disarmed,
  enter,
  leave,
  rearm_requested,
  rearm_enter,
  rearm_leave,
  rearm_suppressed,
  drain_begin,
  drain_end,
  destroy_begin,
  closed,
  destroyed,
  drain_owed,
  request_begin,
  request_end,
  cancel,
  member,
  close_begin,
  close_end,
  set,
  reset,
  started,
  ended,
  thrown,
  raised,
  repair_submitted,
  repair_started,
  repair_stuck,
};
inline constexpr const char* action_names[] = {"created",
                                               "submitted",
                                               "armed",
                                               "disarmed",
                                               "enter",
                                               "leave",
                                               "rearm-requested",
                                               "rearm-enter",
                                               "rearm-leave",
                                               "rearm-suppressed",
                                               "drain-begin",
                                               "drain-end",
                                               "destroy-begin",
                                               "closed",
                                               "destroyed",
                                               "drain-owed",
                                               "request-begin",
                                               "request-end",
                                               "cancel",
                                               "member",
                                               "close-begin",
                                               "close-end",
                                               "set",
                                               "reset",
                                               "started",
                                               "ended",
                                               "thrown",
                                               "raised",
                                               "repair-submitted",
                                               "repair-started",
                                               "repair-stuck"};
static_assert(std::size(action_names) == static_cast<std::size_t>(action::repair_stuck) + 1);
static_assert(std::size(kind_names) == static_cast<std::size_t>(kind::exception) + 1);

/// One bit for each category, in the order of `category_names`.
enum category : std::uint32_t {
  work_category = 1 << 0,
  timer_category = 1 << 1,
  wait_category = 1 << 2,
  io_category = 1 << 3,
  group_category = 1 << 4,
  pool_category = 1 << 5,
  event_category = 1 << 6,
  delivery_category = 1 << 7,
  rearm_category = 1 << 8,
  teardown_category = 1 << 9,
  syscall_category = 1 << 10,
  exception_category = 1 << 11,
  report_category = 1 << 12,
  every_category = (1 << 13) - 1,
};
inline constexpr const char* category_names[] = {"work",    "timer",     "wait",     "io",    "group",
                                                 "pool",    "event",     "delivery", "rearm", "teardown",
                                                 "syscall", "exception", "report"};
static_assert((1u << std::size(category_names)) - 1 == every_category);

constexpr std::uint32_t category_of(kind what) noexcept {
  switch (what) {
    case kind::work:
    case kind::one_off: return work_category;
    case kind::timer:
    case kind::periodic_timer: return timer_category;
    case kind::wait: return wait_category;
    case kind::io: return io_category;
    case kind::group: return group_category;
    case kind::pool:
    case kind::worker: return pool_category;
    case kind::event: return event_category;
    case kind::call: return syscall_category;
    case kind::exception: return exception_category;
  }
  return 0;
}

constexpr std::uint32_t category_of(action what) noexcept {
  switch (what) {
    case action::enter:
    case action::leave: return delivery_category;
    case action::rearm_requested:
    case action::rearm_enter:
    case action::rearm_leave:
    case action::rearm_suppressed: return rearm_category;
    case action::drain_begin:
    case action::drain_end:
    case action::destroy_begin:
    case action::closed:
    case action::destroyed:
    case action::close_begin:
    case action::close_end: return teardown_category;
    case action::drain_owed:
    case action::repair_submitted:
    case action::repair_started:
    case action::repair_stuck: return report_category;
    default: return 0;
  }
}

/// The categories that each make such a record.
constexpr std::uint32_t categories_of(kind what, action which) noexcept {
  if (what == kind::call || what == kind::event || (what == kind::pool && category_of(which) != report_category)) {
    return category_of(what);
  }
  return category_of(what) | category_of(which);
}

/// The error of a request and its bytes in one value, which holds the low 16 bits of the one, as many as the system's
/// errors have, and the low 48 of the other.
constexpr std::uint64_t outcome_of(std::uint32_t error, std::uint64_t bytes) noexcept {
  return (std::uint64_t{error} << 48) | (bytes & 0xffff'ffff'ffff);
}
constexpr std::uint64_t error_in(std::uint64_t outcome) noexcept { return outcome >> 48; }
constexpr std::uint64_t bytes_in(std::uint64_t outcome) noexcept { return outcome & 0xffff'ffff'ffff; }

/// How a value of a record is written.
enum class form : std::uint8_t {
  none,
  signed_number,
  number,
  address,
  optional_time,  // a signed number; left out when it is `never`
  site,           // both values: the address of a file's name, and a line
  text,           // the address of a name
  type,           // the address of a type's name
  outcome,        // a request's error and its bytes
};

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct value_format {
  const char* name = "";
  form how = form::none;
};

struct action_format {
  value_format first;
  value_format second;
};

constexpr action_format format_of(kind what, action which) noexcept {
  switch (which) {
    case action::created:
      return what == kind::pool || what == kind::event ? action_format{} : action_format{{"site", form::site}, {}};
    case action::enter:
    case action::leave:
      if (what == kind::call) {
        return {{"call", form::text}, {}};
      }
      return which == action::enter && what != kind::one_off ? action_format{{"site", form::site}, {}}
                                                             : action_format{};
    case action::armed:
      if (what == kind::wait) {
        return {{"handle", form::address}, {"timeout_ns", form::optional_time}};
      }
      return {{"after_ns", form::signed_number}, {what == kind::timer ? "window_ms" : "period_ms", form::number}};
    case action::drain_begin:
    case action::close_begin: return {{"cancel", form::number}, {}};
    case action::drain_owed: return {{"site", form::site}, {}};
    case action::request_begin: return {{"request", form::address}, {}};
    case action::request_end: return {{"request", form::address}, {"error", form::outcome}};
    case action::member: return {{"member", form::address}, {}};
    case action::thrown: return {{"type", form::type}, {}};
    case action::raised: return {{"code", form::address}, {"address", form::address}};
    default: return {};
  }
}

}  // namespace tidepool::recorder
