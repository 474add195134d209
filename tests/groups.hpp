// What the tests of cleanup groups share: the four kinds of members, to be had in one shape.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "timers.hpp"

namespace safe {

using tidepool::cleanup_group;

/// Each kind has `start`, which makes the callback be queued as soon as may be, and, where callbacks can make it start
/// again, `restart` by their token.

struct work_kind {
  static constexpr const char* name = "work";
  using handle = tidepool::work_member;
  using object = safe::work;
  static constexpr bool rearms = false;
  static constexpr bool cancels = true;

  template <class F>
  static handle create(cleanup_group& group, F callable, const tidepool::callback_environment& where = {}) {
    return group.create_work(std::move(callable), where);
  }
  template <class F>
  static object alone(F callable, const tidepool::callback_environment& where = {}) {
    return object(std::move(callable), where);
  }
  template <class Object>
  static void start(Object& which) {
    which.submit();
  }
};

struct timer_kind {
  static constexpr const char* name = "timer";
  using handle = tidepool::timer_member;
  using object = safe::timer;
  using token = tidepool::timer_firing;
  static constexpr bool rearms = true;
  static constexpr bool cancels = true;

  template <class F>
  static handle create(cleanup_group& group, F callable, const tidepool::callback_environment& where = {}) {
    return group.create_timer(std::move(callable), where);
  }
  template <class F>
  static object alone(F callable, const tidepool::callback_environment& where = {}) {
    return object(std::move(callable), where);
  }
  template <class Object>
  static void start(Object& which) {
    which.set_after(std::chrono::seconds(0));
  }
  template <class Object>
  static void start_much_later(Object& which) {
    which.set_after(std::chrono::hours(1));
  }
  static void restart(token& which) { which.rearm_after(std::chrono::seconds(0)); }
  template <class Object>
  static void disarm(Object& which) {
    which.disarm();
  }
};

/// Of a period that does not come round.
struct periodic_timer_kind {
  static constexpr const char* name = "periodic_timer";
  using handle = tidepool::periodic_timer_member;
  using object = safe::periodic_timer;
  static constexpr bool rearms = true;
  static constexpr bool cancels = true;

  template <class F>
  static handle create(cleanup_group& group, F callable, const tidepool::callback_environment& where = {}) {
    return group.create_periodic_timer(std::chrono::hours(1), std::move(callable), where);
  }
  template <class F>
  static object alone(F callable, const tidepool::callback_environment& where = {}) {
    return object(std::chrono::hours(1), std::move(callable), where);
  }
  template <class Object>
  static void start(Object& which) {
    which.start_after(std::chrono::seconds(0));
  }
  template <class Object>
  static void start_much_later(Object& which) {
    which.start();
  }
  template <class Object>
  static void disarm(Object& which) {
    which.stop();
  }
};

/// For an event that is set.
struct wait_kind {
  static constexpr const char* name = "wait";
  using handle = tidepool::wait_member;
  using object = safe::wait;
  using token = tidepool::wait_activation;
  static constexpr bool rearms = true;
  static constexpr bool cancels = false;

  template <class F>
  static handle create(cleanup_group& group, F callable, const tidepool::callback_environment& where = {}) {
    return group.create_wait(tidepool::event(tidepool::reset_mode::manual, true), std::move(callable), where);
  }
  template <class F>
  static object alone(F callable, const tidepool::callback_environment& where = {}) {
    return object(tidepool::event(tidepool::reset_mode::manual, true), std::move(callable), where);
  }
  template <class Object>
  static void start(Object& which) {
    which.arm();
  }
  static void restart(token& which) { which.rearm(); }
  template <class Object>
  static void disarm(Object& which) {
    which.disarm();
  }
};

using member_kinds = testing::Types<work_kind, timer_kind, periodic_timer_kind, wait_kind>;
using arming_kinds = testing::Types<timer_kind, periodic_timer_kind, wait_kind>;
using token_kinds = testing::Types<timer_kind, wait_kind>;

struct kind_names {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::name;
  }
};

#define SKIP_WAITS_UNDER_WINE()                                                                     \
  if (std::is_same_v<TypeParam, wait_kind>) {                                                       \
    SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that"); \
  }                                                                                                 \
  static_assert(true, "requires a semicolon")

/// Of the run that a callback has been given the token of.
template <class Token>
tidepool::callback_instance& instance_of(Token& token) {
  if constexpr (requires { token.instance(); }) {
    return token.instance();
  } else {
    return token;
  }
}

/// Whatever was started is queued when it returns, if it has not begun.
inline void let_everything_be_queued() {
  let_due_times_come();
  let_another_pool_work();
}

/// Ends a group in each way that drains; and, for the sake of one list, in the one that does not.
enum class ending { close, destruction, assignment, cancelling_close };

inline void end(std::optional<cleanup_group>& group, ending how) {
  switch (how) {
    case ending::close: group->close_members(false); break;
    case ending::destruction: group.reset(); break;
    case ending::assignment: *group = cleanup_group(); break;
    case ending::cancelling_close: group->close_members(true); break;
  }
}

inline constexpr ending draining_endings[] = {ending::close, ending::destruction, ending::assignment};
inline constexpr ending all_endings[] = {ending::close, ending::destruction, ending::assignment,
                                         ending::cancelling_close};

/// Whether an operation on a member is refused.
template <class Operation>
[[nodiscard]] bool is_refused(Operation operation) {
  try {
    operation();
    return false;
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::operation_not_permitted) << error.what();
    return true;
  }
}

#define EXPECT_REFUSED(expression) EXPECT_TRUE(is_refused([&] { static_cast<void>(expression); })) << #expression

/// Calls `use` with each operation that the handle has. Those that make a callback run come last.
template <class Handle, class Use>
void for_each_operation(const Handle& handle, Use use) {
  using namespace std::chrono_literals;
  use([&] { handle.wait_for_callbacks(); });
  use([&] { handle.stop_and_drain(); });
  if constexpr (requires { handle.cancel_pending(); }) {
    use([&] { handle.cancel_pending(); });
  }
  if constexpr (std::same_as<Handle, tidepool::work_member>) {
    use([&] { handle.submit(); });
  } else if constexpr (std::same_as<Handle, tidepool::timer_member>) {
    use([&] { handle.disarm(); });
    use([&] { static_cast<void>(handle.is_set()); });
    use([&] { handle.set_after(1h); });
    use([&] { handle.set_after_with_window(1h, 1s); });
    use([&] { handle.set_at(std::chrono::system_clock::now() + 1h); });
  } else if constexpr (std::same_as<Handle, tidepool::periodic_timer_member>) {
    use([&] { handle.stop(); });
    use([&] { static_cast<void>(handle.is_running()); });
    use([&] { static_cast<void>(handle.period()); });
    use([&] { handle.start(); });
    use([&] { handle.start_after(1h); });
    use([&] { handle.start_at(std::chrono::system_clock::now() + 1h); });
    use([&] { handle.start_with_window(1s); });
  } else {
    use([&] { handle.disarm(); });
    use([&] { handle.arm(); });
    use([&] { handle.arm(1h); });
  }
}

template <class Handle>
void expect_all_refused(const Handle& handle) {
  for_each_operation(handle, [](auto operation) { EXPECT_TRUE(is_refused(operation)); });
}

template <class Handle>
void expect_all_work(const Handle& handle) {
  for_each_operation(handle, [](auto operation) { EXPECT_FALSE(is_refused(operation)); });
}

}  // namespace safe
