// Timers and waits: exceptions, misuse, and destruction by their own callbacks.
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "safe.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::periodic_timer;
using tidepool::reset_mode;
using tidepool::timer;
using tidepool::wait;
using tidepool::waitable_handle;

void wait_for_the_end() {
  gate never;
  static_cast<void>(never.pass());
}

event set_event() { return event(reset_mode::manual, true); }

// ---- exceptions ----------------------------------------------------------------------------------------

TEST(exceptions, that_leave_a_timer_callback_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        timer object([] { throw std::runtime_error("the tide is out"); });
        object.set_after(0s);
        wait_for_the_end();
      },
      "the tide is out");
}

TEST(exceptions, that_leave_a_tick_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        periodic_timer object(1ms, [] { throw std::runtime_error("the tide is out"); });
        object.start();
        wait_for_the_end();
      },
      "the tide is out");
}

TEST(exceptions, that_leave_a_wait_callback_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        wait object(set_event(), [] { throw std::runtime_error("the tide is out"); });
        object.arm();
        wait_for_the_end();
      },
      "the tide is out");
}

// ---- destruction by their own callback -----------------------------------------------------------------

TEST(timers, that_are_destroyed_inside_their_own_callback_end_the_process_and_name_their_origin) {
  EXPECT_DEATH(
      {
        std::optional<timer> object;
        object = timer([&] { object.reset(); });
        object->set_after(0s);
        wait_for_the_end();
      },
      "tidepool: the timer created at .*time_and_waits_test.cpp.* is being destroyed inside its own callback");
}

TEST(timers, that_are_assigned_inside_their_own_callback_end_the_process) {
  EXPECT_DEATH(
      {
        timer object([] {});
        object = timer([&] { object = timer([] {}); });
        object.set_after(0s);
        wait_for_the_end();
      },
      "tidepool: the timer created at .* is being destroyed inside its own callback");
}

TEST(periodic_timers, that_are_destroyed_inside_their_own_callback_end_the_process_and_name_their_origin) {
  EXPECT_DEATH(
      {
        std::optional<periodic_timer> object;
        object = periodic_timer(1ms, [&] { object.reset(); });
        object->start();
        wait_for_the_end();
      },
      "tidepool: the periodic_timer created at .*time_and_waits_test.cpp.* is being destroyed inside its own callback");
}

TEST(waits, that_are_destroyed_inside_their_own_callback_end_the_process_and_name_their_origin) {
  EXPECT_DEATH(
      {
        std::optional<wait> object;
        object = wait(set_event(), [&] { object.reset(); });
        object->arm();
        wait_for_the_end();
      },
      "tidepool: the wait created at .*time_and_waits_test.cpp.* is being destroyed inside its own callback");
}

TEST(waits, whose_refusal_to_drain_is_not_caught_end_the_process_with_its_message) {
  EXPECT_DEATH(
      {
        std::optional<wait> object;
        object.emplace(set_event(), [&] { object->stop_and_drain(); });
        object->arm();
        wait_for_the_end();
      },
      "wait::stop_and_drain inside a callback of the same object");
}

// ---- misuse --------------------------------------------------------------------------------------------

template <class Object, class Use>
void use_after_move(Object object, Use use) {
  const Object taken(std::move(object));
  use(object);
}

TEST(moved_from_objects, end_the_process_when_they_are_timers_and_are_used) {
  constexpr const char* message = "tidepool: a timer was used after it had been moved from";
  EXPECT_DEATH(use_after_move(timer([] {}), [](timer& it) { it.set_after(1h); }), message);
  EXPECT_DEATH(use_after_move(timer([] {}), [](timer& it) { it.disarm(); }), message);
  EXPECT_DEATH(use_after_move(timer([] {}), [](timer& it) { static_cast<void>(it.is_set()); }), message);
  EXPECT_DEATH(use_after_move(timer([] {}), [](timer& it) { it.stop_and_drain(); }), message);
}

TEST(moved_from_objects, end_the_process_when_they_are_periodic_timers_and_are_used) {
  constexpr const char* message = "tidepool: a periodic_timer was used after it had been moved from";
  const auto make = [] { return periodic_timer(1ms, [] {}); };
  EXPECT_DEATH(use_after_move(make(), [](periodic_timer& it) { it.start(); }), message);
  EXPECT_DEATH(use_after_move(make(), [](periodic_timer& it) { it.stop(); }), message);
  EXPECT_DEATH(use_after_move(make(), [](periodic_timer& it) { static_cast<void>(it.period()); }), message);
  EXPECT_DEATH(use_after_move(make(), [](periodic_timer& it) { it.stop_and_drain(); }), message);
}

TEST(moved_from_objects, end_the_process_when_they_are_waits_and_are_used) {
  constexpr const char* message = "tidepool: a wait was used after it had been moved from";
  const auto make = [] { return wait(set_event(), [] {}); };
  EXPECT_DEATH(use_after_move(make(), [](wait& it) { it.arm(); }), message);
  EXPECT_DEATH(use_after_move(make(), [](wait& it) { it.disarm(); }), message);
  EXPECT_DEATH(use_after_move(make(), [](wait& it) { it.stop_and_drain(); }), message);
}

TEST(moved_from_objects, end_the_process_when_a_wait_is_made_from_their_handle) {
  EXPECT_DEATH(
      {
        waitable_handle handle = set_event();
        const waitable_handle taken(std::move(handle));
        const wait object(std::move(handle), [] {});
      },
      "tidepool: a wait was given a waitable_handle that has been moved from");
}

TEST(moved_from_objects, can_be_destroyed_and_assigned_when_they_are_timers_or_waits) {
  EXPECT_EXIT(
      {
        tally ran;
        timer once([] {});
        std::optional<timer> taken_timer(std::move(once));
        taken_timer.reset();
        once = timer([&] { ran.add(); });
        once.set_after(0s);
        wait on_event(event(reset_mode::manual), [] {});
        std::optional<wait> taken_wait(std::move(on_event));
        taken_wait.reset();
        on_event = wait(set_event(), [&] { ran.add(); });
        on_event.arm();
        std::_Exit(ran.reaches(2) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(tokens, end_the_process_when_they_are_used_on_another_thread) {
  constexpr const char* message = "tidepool: a callback_instance was used outside its callback, or on another thread";
  EXPECT_DEATH(
      {
        timer object([](tidepool::timer_firing& firing) { std::jthread other([&] { firing.rearm_after(0s); }); });
        object.set_after(0s);
        wait_for_the_end();
      },
      message);
  EXPECT_DEATH(
      {
        periodic_timer object(1ms, [](tidepool::periodic_tick& tick) { std::jthread other([&] { tick.stop(); }); });
        object.start();
        wait_for_the_end();
      },
      message);
  EXPECT_DEATH(
      {
        wait object(set_event(),
                    [](tidepool::wait_activation& activation) { std::jthread other([&] { activation.rearm(); }); });
        object.arm();
        wait_for_the_end();
      },
      message);
}

}  // namespace
}  // namespace safe
