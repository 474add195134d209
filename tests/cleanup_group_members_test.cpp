// Members of cleanup groups do what the objects of their kind do. Each test here runs for both, so that it says of one what
// it says of the other.
#include "allocations.hpp"
#include "groups.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

/// An object that stands by itself.
template <class Of>
struct alone : Of {
  using kind = Of;
  static std::string name() { return std::string(Of::name) + "_alone"; }

  template <class F>
  auto make(F callable, const tidepool::callback_environment& where = {}) {
    return Of::alone(std::move(callable), where);
  }
  static std::string function(const char* member) { return std::string(Of::name) + "::" + member; }
};

template <class Of>
struct member : Of {
  using kind = Of;
  static std::string name() { return std::string(Of::name) + "_member"; }

  template <class F>
  auto make(F callable, const tidepool::callback_environment& where = {}) {
    return Of::create(group, std::move(callable), where);
  }
  static std::string function(const char* member) { return std::string(Of::name) + "_member::" + member; }

  cleanup_group group;
};

template <class Source>
class sources : public safe_test {
 protected:
  template <class Test>
  void with_a_queued_callback(Test test) {
    const private_pool pool(1);
    tally ran;
    Source source;
    auto object = source.make([&] { ran.add(); }, pool.environment);
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    Source::start(object);
    let_everything_be_queued();
    ASSERT_EQ(ran.count(), 0u);
    test(object, ran, [&] { only_thread.release(); });
  }

  /// `drain` comes to its end when the queued callback has run, and not before.
  template <class Drain>
  void expect_to_run_what_is_queued(Drain drain) {
    with_a_queued_callback([&](auto& object, tally& ran, auto let_go) {
      tally drained;
      const std::jthread drainer = begin([&] {
        drain(object);
        EXPECT_EQ(ran.count(), 1u);
        drained.add();
      });
      EXPECT_EQ(drained.count(), 0u);
      let_go();
      EXPECT_TRUE(drained.reaches(1));
    });
  }
};

struct source_names {
  template <class Source>
  static std::string GetName(int) {
    return Source::name();
  }
};

using all_sources =
    testing::Types<alone<work_kind>, member<work_kind>, alone<timer_kind>, member<timer_kind>,
                   alone<periodic_timer_kind>, member<periodic_timer_kind>, alone<wait_kind>, member<wait_kind>>;
TYPED_TEST_SUITE(sources, all_sources, source_names);

TYPED_TEST(sources, run_when_they_are_started_and_not_before) {
  tally ran;
  TypeParam source;
  auto object = source.make([&] { ran.add(); });
  object.wait_for_callbacks();
  let_another_pool_work();
  EXPECT_EQ(ran.count(), 0u);
  for (unsigned i = 1; i <= 20; ++i) {
    TypeParam::start(object);
    EXPECT_TRUE(ran.reaches(i));
    object.stop_and_drain();
  }
  EXPECT_EQ(ran.count(), 20u);
}

TYPED_TEST(sources, run_on_the_pool_of_their_environment) {
  this->with_a_queued_callback([&](auto& object, tally& ran, auto let_go) {
    let_go();
    EXPECT_TRUE(ran.reaches(1));
    object.stop_and_drain();
  });
}

TYPED_TEST(sources, are_waited_for_with_what_is_queued) {
  this->expect_to_run_what_is_queued([](auto& object) { object.wait_for_callbacks(); });
}

TYPED_TEST(sources, run_what_is_queued_when_they_are_stopped) {
  this->expect_to_run_what_is_queued([](auto& object) { object.stop_and_drain(); });
}

TYPED_TEST(sources, drop_what_is_queued_when_that_is_cancelled) {
  if constexpr (TypeParam::cancels) {
    this->with_a_queued_callback([&](auto& object, tally& ran, auto let_go) {
      object.cancel_pending();
      let_go();
      object.wait_for_callbacks();
      EXPECT_EQ(ran.count(), 0u);
      TypeParam::start(object);
      EXPECT_TRUE(ran.reaches(1));
      object.stop_and_drain();
    });
  }
}

TYPED_TEST(sources, refuse_to_be_drained_by_their_own_callbacks) {
  using object_type = decltype(std::declval<TypeParam&>().make([] {}));
  tally refused;
  std::optional<object_type> object;
  TypeParam source;
  const auto expect_refusal = [&](const char* function, auto drain) {
    try {
      drain();
      ADD_FAILURE() << function << " does not throw";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
      EXPECT_NE(std::string(error.what()).find(TypeParam::function(function)), std::string::npos) << error.what();
      refused.add();
    }
  };
  object.emplace(source.make([&] {
    expect_refusal("wait_for_callbacks", [&] { object->wait_for_callbacks(); });
    expect_refusal("stop_and_drain", [&] { object->stop_and_drain(); });
    if constexpr (TypeParam::cancels) {
      expect_refusal("cancel_pending", [&] { object->cancel_pending(); });
    }
  }));
  TypeParam::start(*object);
  EXPECT_TRUE(refused.reaches(TypeParam::cancels ? 3 : 2));
  object->stop_and_drain();
}

TYPED_TEST(sources, are_no_longer_armed_when_they_have_been_stopped_and_can_be_started_again) {
  if constexpr (TypeParam::rearms && !std::is_same_v<typename TypeParam::kind, wait_kind>) {
    tally ran;
    TypeParam source;
    auto object = source.make([&] { ran.add(); });
    const auto is_armed = [&] {
      if constexpr (requires { object.is_set(); }) {
        return object.is_set();
      } else {
        return object.is_running();
      }
    };
    EXPECT_FALSE(is_armed());
    TypeParam::start_much_later(object);
    EXPECT_TRUE(is_armed());
    object.stop_and_drain();
    EXPECT_FALSE(is_armed());
    TypeParam::start_much_later(object);
    TypeParam::disarm(object);
    EXPECT_FALSE(is_armed());
    EXPECT_EQ(ran.count(), 0u);
    TypeParam::start(object);
    EXPECT_TRUE(ran.reaches(1));
    object.stop_and_drain();
  }
}

TYPED_TEST(sources, that_start_themselves_again_in_their_callback_are_brought_to_an_end_by_a_drain) {
  if (std::is_same_v<typename TypeParam::kind, wait_kind>) {
    SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  }
  if constexpr (TypeParam::rearms) {
    using object_type = decltype(std::declval<TypeParam&>().make([] {}));
    tally ran;
    std::optional<object_type> object;
    TypeParam source;
    object.emplace(source.make([&] {
      ran.add();
      TypeParam::start(*object);
    }));
    for (int round = 0; round != 10; ++round) {
      TypeParam::start(*object);
      EXPECT_TRUE(ran.reaches(ran.count() + 3));
      object->stop_and_drain();
      const unsigned after = ran.count();
      let_another_pool_work();
      EXPECT_EQ(ran.count(), after);
    }
  }
}

TYPED_TEST(sources, give_their_callbacks_an_instance) {
  const tidepool::event over(tidepool::reset_mode::manual);
  TypeParam source;
  auto object = source.make([&](auto& token) {
    if constexpr (requires { token.instance(); }) {
      token.instance().set_event_when_returns(over);
    } else {
      token.set_event_when_returns(over);
    }
  });
  TypeParam::start(object);
  EXPECT_TRUE(over.wait_for(patience));
  object.stop_and_drain();
}

TYPED_TEST(sources, take_nothing_from_the_heap_when_they_are_started) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  const private_pool pool(2, 2);  // its threads are there, so that none has to be made
  tally ran;
  TypeParam source;
  auto object = source.make([&] { ran.add(); }, pool.environment);
  TypeParam::start(object);
  object.wait_for_callbacks();
  EXPECT_TRUE(ran.reaches(1));
  const allocation_count here(allocation_count::of::this_thread);
  for (int i = 0; i != 1000; ++i) {
    TypeParam::start(object);
  }
  EXPECT_EQ(here.count(), 0u);
  object.stop_and_drain();
}

// ---- what only some kinds have -------------------------------------------------------------------------

class group_members : public safe_test {
 protected:
  cleanup_group group_;
};

TEST_F(group_members, that_are_timers_fire_when_they_are_told_to_and_never_early) {
  tally fired;
  std::chrono::steady_clock::time_point when;
  const tidepool::timer_member object = group_.create_timer([&] {
    when = std::chrono::steady_clock::now();
    fired.add();
  });
  unsigned expected = 0;
  const auto expect_not_early = [&](auto set, auto least) {
    const auto begin = std::chrono::steady_clock::now();
    set();
    ASSERT_TRUE(fired.reaches(++expected));
    object.stop_and_drain();
    EXPECT_GE(when - begin, least);
  };
  expect_not_early([&] { object.set_after(10ms); }, 10ms);
  expect_not_early([&] { object.set_after_with_window(10ms, 5ms); }, 10ms);
  expect_not_early([&] { object.set_at(std::chrono::system_clock::now()); }, 0ms);
  object.set_after(1h);
  object.set_at(std::chrono::system_clock::now() + 1h);
  let_due_times_come();
  EXPECT_EQ(fired.count(), expected);
}

TEST_F(group_members, that_are_periodic_timers_tick_and_know_their_period) {
  tally ticks;
  const tidepool::periodic_timer_member object =
      group_.create_periodic_timer(2ms, [&](tidepool::periodic_tick&) { ticks.add(); });
  EXPECT_EQ(object.period(), 2ms);
  EXPECT_FALSE(object.is_running());
  const auto expect_ticks = [&](auto start) {
    start();
    EXPECT_TRUE(object.is_running());
    EXPECT_TRUE(ticks.reaches(ticks.count() + 2));
    object.stop_and_drain();
    EXPECT_FALSE(object.is_running());
  };
  expect_ticks([&] { object.start(); });
  expect_ticks([&] { object.start_after(0s); });
  expect_ticks([&] { object.start_at(std::chrono::system_clock::now()); });
  expect_ticks([&] { object.start_with_window(1ms); });
  EXPECT_SYSTEM_ERROR(static_cast<void>(group_.create_periodic_timer(0ms, [] {})), std::errc::invalid_argument);
}

TEST_F(group_members, that_are_waits_activate_or_time_out) {
  const tidepool::event ready(tidepool::reset_mode::automatic);
  tally activations;
  std::vector<tidepool::wait_result> results;
  const tidepool::wait_member object = group_.create_wait(ready, [&](tidepool::wait_activation& activation) {
    results.push_back(activation.result());
    activations.add();
  });
  object.arm();
  ready.set();
  EXPECT_TRUE(activations.reaches(1));
  object.arm(1ms);
  EXPECT_TRUE(activations.reaches(2));
  object.arm(1h);
  object.disarm();
  ready.set();
  if (!contract::under_wine()) {  // where the wait may have taken it
    EXPECT_TRUE(ready.wait_for(0s));
  }
  object.stop_and_drain();
  ASSERT_GE(results.size(), 2u);
  EXPECT_EQ(results[0], tidepool::wait_result::signalled);
  EXPECT_EQ(results[1], tidepool::wait_result::timed_out);
}

TEST_F(group_members, that_are_work_run_once_for_each_submission_from_many_threads) {
  std::atomic<int> calls = 0;
  const tidepool::work_member object = group_.create_work([&] { ++calls; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([object] {
        for (int n = 0; n != 2000; ++n) {
          object.submit();
        }
      });
    }
  }
  object.wait_for_callbacks();
  EXPECT_EQ(calls, 8000);
}

TEST_F(group_members, have_handles_that_are_copied_moved_and_assigned) {
  tally first_ran;
  tally second_ran;
  tidepool::work_member first = group_.create_work([&] { first_ran.add(); });
  tidepool::work_member second = group_.create_work([&] { second_ran.add(); });
  tidepool::work_member copy = first;
  copy.submit();
  EXPECT_TRUE(first_ran.reaches(1));
  tidepool::work_member moved(std::move(first));
  moved.submit();
  EXPECT_TRUE(first_ran.reaches(2));
  first = second;
  first.submit();
  EXPECT_TRUE(second_ran.reaches(1));
  second = std::move(moved);
  second.submit();
  EXPECT_TRUE(first_ran.reaches(3));
  copy = *&copy;
  copy.submit();
  EXPECT_TRUE(first_ran.reaches(4));
  group_.close_members(false);
  EXPECT_EQ(first_ran.count(), 4u);
  EXPECT_EQ(second_ran.count(), 1u);
}

TEST_F(group_members, live_on_without_their_handle) {
  tally ran;
  static_cast<void>(group_.create_work([&] { ran.add(); }));
  {
    const tidepool::work_member object = group_.create_work([&] { ran.add(); });
    object.submit();
  }
  EXPECT_TRUE(ran.reaches(1));
  group_.close_members(false);
  EXPECT_EQ(ran.count(), 1u);
}

}  // namespace
}  // namespace safe
