// Who wins when a callback re-arms its object, a thread arms it from outside, and somebody drains, disarms or destroys it.
//
//   the callback re-arms, and …   arming from outside   disarming   a drain     destruction    another drain
//   result                        the later one counts  it re-arms  discarded   discarded      discarded until both end
//   a thread arms, and …          the later one counts  the later   takes place (not allowed)
//
// docs/design/teardown.md says why. The tests hold for timers and for waits alike.
#include <chrono>
#include <optional>

#include "contract/blocked_call.hpp"
#include "tidepool/detail/rearm_gate.hpp"
#include "timers.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

/// A timer that is due at once when it is armed.
struct timer_kind {
  using object = timer;
  using token = tidepool::timer_firing;

  template <class F>
  static object make(F callback, const tidepool::callback_environment& where = {}) {
    return object(std::move(callback), where);
  }
  static void arm(object& which) { which.set_after(0s); }
  static void rearm(token& which) { which.rearm_after(0s); }
};

/// A wait for an event that is set.
struct wait_kind {
  using object = wait;
  using token = tidepool::wait_activation;

  template <class F>
  static object make(F callback, const tidepool::callback_environment& where = {}) {
    return object(tidepool::event(tidepool::reset_mode::manual, true), std::move(callback), where);
  }
  static void arm(object& which) { which.arm(); }
  static void rearm(token& which) { which.rearm(); }
};

template <class Kind>
class rearming : public safe_test {
 protected:
  using object_type = typename Kind::object;
  using token_type = typename Kind::token;

  /// What a callback does that is to be drained while it runs: it re-arms, says that it is inside, and stays until it is
  /// let go.
  auto re_arms_and_stays() {
    return [this](token_type& mine) {
      Kind::rearm(mine);
      inside.add();
      EXPECT_TRUE(let_go.pass());
      finished.add();
    };
  }

  /// Nothing runs any more.
  void expect_quiet() {
    const unsigned before = inside.count();
    let_due_times_come();
    let_another_pool_work();
    EXPECT_EQ(inside.count(), before);
    EXPECT_EQ(finished.count(), before);
  }

  tally inside;
  gate let_go;
  tally finished;
};

class rearming_timers : public safe_test {};
class rearming_waits : public safe_test {};
class rearming_periodic_timers : public safe_test {};

#define SKIP_WAITS_UNDER_WINE()                                                                     \
  if (std::is_same_v<TypeParam, wait_kind>) {                                                       \
    SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that"); \
  }                                                                                                 \
  static_assert(true, "requires a semicolon")

struct kind_names {
  template <class Kind>
  static std::string GetName(int) {
    return std::is_same_v<Kind, timer_kind> ? "timer" : "wait";
  }
};

using kinds = testing::Types<timer_kind, wait_kind>;
TYPED_TEST_SUITE(rearming, kinds, kind_names);

// ---- by the callback alone -----------------------------------------------------------------------------

TYPED_TEST(rearming, by_the_callback_makes_it_run_again_until_it_no_longer_does) {
  typename TestFixture::object_type object = TypeParam::make([&](typename TestFixture::token_type& mine) {
    this->inside.add();
    if (this->inside.count() < 100) {
      TypeParam::rearm(mine);
    }
    this->finished.add();
  });
  TypeParam::arm(object);
  EXPECT_TRUE(this->finished.reaches(100));
  this->expect_quiet();
}

TYPED_TEST(rearming, takes_place_when_the_callback_has_returned) {
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(1));
  let_due_times_come();
  let_another_pool_work();
  EXPECT_EQ(this->inside.count(), 1u);
  this->let_go.open();
  EXPECT_TRUE(this->inside.reaches(3));
}

TYPED_TEST(rearming, never_makes_runs_overlap) {
  crowd runs;
  typename TestFixture::object_type object = TypeParam::make([&](typename TestFixture::token_type& mine) {
    TypeParam::rearm(mine);
    runs.enter();
    std::this_thread::yield();
    runs.leave();
    this->inside.add();
  });
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(500));
  object.stop_and_drain();
  EXPECT_EQ(runs.peak(), 1u);
}

TEST_F(rearming_timers, measures_the_gap_from_the_end_of_a_firing) {
  std::vector<std::chrono::steady_clock::time_point> begins;
  std::vector<std::chrono::steady_clock::time_point> ends;
  tally over;
  timer object([&](tidepool::timer_firing& firing) {
    begins.push_back(std::chrono::steady_clock::now());
    if (begins.size() < 5) {
      firing.rearm_after(10ms);
    }
    let_another_pool_work(1);  // takes a while, which must not count
    ends.push_back(std::chrono::steady_clock::now());
    over.add();
  });
  object.set_after(0s);
  ASSERT_TRUE(over.reaches(5));
  object.stop_and_drain();
  for (std::size_t i = 1; i != 5; ++i) {
    EXPECT_GE(begins[i] - ends[i - 1], 10ms);
  }
}

TEST_F(rearming_timers, to_a_time_of_the_clock_is_not_early_and_at_once_when_that_has_passed) {
  tally over;
  std::chrono::system_clock::time_point due;
  std::chrono::system_clock::time_point when;
  timer object([&](tidepool::timer_firing& firing) {
    switch (over.count()) {
      case 0:
        due = std::chrono::system_clock::now() + 20ms;
        firing.rearm_at(due);
        break;
      case 1:
        when = std::chrono::system_clock::now();
        firing.rearm_at(std::chrono::system_clock::time_point());
        break;
      case 2: firing.rearm_at(std::chrono::sys_days(std::chrono::year(1500) / 1 / 1)); break;
      default: break;
    }
    over.add();
  });
  object.set_at(std::chrono::system_clock::now());
  EXPECT_TRUE(over.reaches(4));
  object.stop_and_drain();
  EXPECT_GE(when, due);
  EXPECT_EQ(over.count(), 4u);
}

TEST_F(rearming_timers, does_what_was_asked_for_last) {
  tally over;
  timer object([&](tidepool::timer_firing& firing) {
    if (over.count() == 0) {
      firing.rearm_after(1h);
      firing.rearm_after(0s);
    } else {
      firing.rearm_after(0s);
      firing.rearm_after(1h);
    }
    over.add();
  });
  object.set_after(0s);
  EXPECT_TRUE(over.reaches(2));
  let_due_times_come();
  EXPECT_EQ(over.count(), 2u);
  EXPECT_TRUE(object.is_set());
}

TEST_F(rearming_waits, begins_the_time_out_when_the_callback_has_returned) {
  const tidepool::event ready(tidepool::reset_mode::automatic, true);
  std::chrono::steady_clock::time_point returned;
  std::chrono::steady_clock::time_point again;
  std::vector<tidepool::wait_result> results;
  tally over;
  wait object(ready, [&](tidepool::wait_activation& activation) {
    results.push_back(activation.result());
    if (results.size() == 1) {
      activation.rearm(20ms);
      let_another_pool_work(1);
      returned = std::chrono::steady_clock::now();
    } else {
      again = std::chrono::steady_clock::now();
    }
    over.add();
  });
  object.arm();
  ASSERT_TRUE(over.reaches(2));
  object.stop_and_drain();
  EXPECT_EQ(results[0], tidepool::wait_result::signalled);
  EXPECT_EQ(results[1], tidepool::wait_result::timed_out);
  EXPECT_GE(again - returned, 20ms);
}

TEST_F(rearming_waits, gets_each_signal_of_an_automatic_event) {
  const tidepool::event ready(tidepool::reset_mode::automatic);
  tally signals;
  wait object(ready, [&](tidepool::wait_activation& activation) {
    activation.rearm();
    signals.add();
  });
  object.arm();
  for (unsigned i = 1; i <= 200; ++i) {
    ready.set();
    ASSERT_TRUE(signals.reaches(i));
  }
  object.stop_and_drain();
  EXPECT_EQ(signals.count(), 200u);
}

TEST_F(rearming_timers, is_done_before_the_events_of_the_run_are_set) {
  for (int i = 0; i != 1000; ++i) {
    const tidepool::event over(tidepool::reset_mode::manual);
    timer object([&](tidepool::timer_firing& firing) {
      firing.instance().set_event_when_returns(over);
      firing.rearm_after(1h);
    });
    object.set_after(0s);
    ASSERT_TRUE(contract::eventually_without_sleep([&] { return over.wait_for(0s); }));
    object.disarm();
    object.wait_for_callbacks();
    ASSERT_FALSE(object.is_set());  // a re-arm that was still to come would have undone the disarming
  }
}

// ---- and arming from outside ---------------------------------------------------------------------------

TYPED_TEST(rearming, does_not_keep_others_from_arming_meanwhile) {
  SKIP_WAITS_UNDER_WINE();
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(1));
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(2));  // overlaps the first
  this->let_go.open();
  object.stop_and_drain();
  this->expect_quiet();
}

TEST_F(rearming_timers, takes_the_place_of_a_due_time_set_meanwhile) {
  tally inside;
  gate let_go;
  timer object([&](tidepool::timer_firing& firing) {
    inside.add();
    if (inside.count() == 1) {
      firing.rearm_after(0s);
      EXPECT_TRUE(let_go.pass());
    }
  });
  object.set_after(0s);
  EXPECT_TRUE(inside.reaches(1));
  object.set_after(1h);
  let_go.open();
  EXPECT_TRUE(inside.reaches(2));
}

TYPED_TEST(rearming, by_way_of_the_object_works_in_the_callback_too) {
  std::optional<typename TestFixture::object_type> object;
  object.emplace(TypeParam::make([&] {
    this->inside.add();
    if (this->inside.count() < 20) {
      TypeParam::arm(*object);
    }
    this->finished.add();
  }));
  TypeParam::arm(*object);
  EXPECT_TRUE(this->finished.reaches(20));
  this->expect_quiet();
}

// ---- and disarming -------------------------------------------------------------------------------------

TYPED_TEST(rearming, comes_after_a_disarming_during_the_callback) {
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(1));
  object.disarm();
  this->let_go.open();
  EXPECT_TRUE(this->inside.reaches(2));
}

// ---- and drains ----------------------------------------------------------------------------------------

TYPED_TEST(rearming, is_discarded_during_a_drain) {
  SKIP_WAITS_UNDER_WINE();
  for (int round = 0; round != 3; ++round) {
    gate let_this_one_go;
    tally begun;
    typename TestFixture::object_type object = TypeParam::make([&](typename TestFixture::token_type& mine) {
      TypeParam::rearm(mine);
      begun.add();
      EXPECT_TRUE(let_this_one_go.pass());
    });
    TypeParam::arm(object);
    EXPECT_TRUE(begun.reaches(1));
    std::jthread drainer = begin([&] { object.stop_and_drain(); });
    let_this_one_go.open();
    drainer.join();
    const unsigned after = begun.count();
    let_due_times_come();
    EXPECT_EQ(begun.count(), after);
  }
}

TYPED_TEST(rearming, without_pause_is_brought_to_an_end_by_a_drain_and_works_again_afterwards) {
  SKIP_WAITS_UNDER_WINE();
  this->let_go.open();
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  for (int round = 0; round != 50; ++round) {
    TypeParam::arm(object);
    EXPECT_TRUE(this->inside.reaches(this->inside.count() + 3));  // it re-arms again
    object.stop_and_drain();
    const unsigned after = this->inside.count();
    let_another_pool_work();
    EXPECT_EQ(this->inside.count(), after);
  }
  this->expect_quiet();
}

TYPED_TEST(rearming, by_way_of_the_object_is_discarded_during_a_drain_too) {
  SKIP_WAITS_UNDER_WINE();
  std::optional<typename TestFixture::object_type> object;
  object.emplace(TypeParam::make([&] {
    this->inside.add();
    TypeParam::arm(*object);
    this->finished.add();
  }));
  for (int round = 0; round != 20; ++round) {
    TypeParam::arm(*object);
    EXPECT_TRUE(this->inside.reaches(this->inside.count() + 3));
    object->stop_and_drain();
    const unsigned after = this->inside.count();
    let_another_pool_work();
    EXPECT_EQ(this->inside.count(), after);
  }
  this->expect_quiet();
}

TYPED_TEST(rearming, from_outside_takes_place_during_a_drain) {
  SKIP_WAITS_UNDER_WINE();
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(1));
  std::atomic<bool> drained = false;
  std::jthread drainer = begin([&] {
    object.stop_and_drain();
    drained = true;
  });
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(2));
  EXPECT_FALSE(drained);
  this->let_go.open();
  drainer.join();
  object.stop_and_drain();
  this->expect_quiet();
}

TYPED_TEST(rearming, ends_with_the_last_of_several_drains) {
  SKIP_WAITS_UNDER_WINE();
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(1));
  {
    std::vector<std::jthread> drainers;
    for (int i = 0; i != 4; ++i) {
      drainers.push_back(begin([&] { object.stop_and_drain(); }));
    }
    this->let_go.open();
  }
  this->expect_quiet();
  const unsigned before = this->inside.count();
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(before + 3));
}

TYPED_TEST(rearming, and_arming_and_draining_by_many_threads_end_in_quiet) {
  SKIP_WAITS_UNDER_WINE();
  this->let_go.open();
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 200; ++n) {
          TypeParam::arm(object);
          if ((n + i) % 4 == 0) {
            object.disarm();
          } else {
            object.stop_and_drain();
          }
        }
      });
    }
  }
  object.stop_and_drain();
  this->expect_quiet();
  EXPECT_GT(this->inside.count(), 0u);
}

// ---- and destruction -----------------------------------------------------------------------------------

TYPED_TEST(rearming, without_pause_is_brought_to_an_end_by_destruction) {
  SKIP_WAITS_UNDER_WINE();
  std::atomic<int> alive = 0;
  for (int round = 0; round != 50; ++round) {
    tally begun;
    {
      typename TestFixture::object_type object =
          TypeParam::make([&, state = counted(alive)](typename TestFixture::token_type& mine) {
            EXPECT_GE(*state.alive, 1);
            TypeParam::rearm(mine);
            begun.add();
          });
      TypeParam::arm(object);
      EXPECT_TRUE(begun.reaches(3));
    }
    EXPECT_EQ(alive, 0);
    const unsigned after = begun.count();
    let_another_pool_work();
    EXPECT_EQ(begun.count(), after);
  }
}

TYPED_TEST(rearming, by_way_of_the_object_is_brought_to_an_end_by_destruction_too) {
  SKIP_WAITS_UNDER_WINE();
  for (int round = 0; round != 50; ++round) {
    tally begun;
    std::optional<typename TestFixture::object_type> object;
    object.emplace(TypeParam::make([&] {
      begun.add();
      TypeParam::arm(*object);
    }));
    TypeParam::arm(*object);
    EXPECT_TRUE(begun.reaches(3));
    object.reset();
    const unsigned after = begun.count();
    let_another_pool_work();
    EXPECT_EQ(begun.count(), after);
  }
}

TYPED_TEST(rearming, is_discarded_by_an_assignment_and_works_for_the_new_object) {
  SKIP_WAITS_UNDER_WINE();
  this->let_go.open();
  tally others;  // the object that uses it goes first
  typename TestFixture::object_type object = TypeParam::make(this->re_arms_and_stays());
  TypeParam::arm(object);
  EXPECT_TRUE(this->inside.reaches(3));
  object = TypeParam::make([&](typename TestFixture::token_type& mine) {
    TypeParam::rearm(mine);
    others.add();
  });
  this->expect_quiet();
  TypeParam::arm(object);
  EXPECT_TRUE(others.reaches(3));
}

TEST_F(rearming_periodic_timers, by_starting_it_in_a_tick_is_discarded_during_a_drain_and_works_otherwise) {
  tally ticks;
  std::optional<periodic_timer> object;
  object.emplace(1h, [&] {
    ticks.add();
    object->start_after(0s);
  });
  for (int round = 0; round != 10; ++round) {
    object->start_after(0s);
    EXPECT_TRUE(ticks.reaches(ticks.count() + 3));
    object->stop_and_drain();
    EXPECT_FALSE(object->is_running());
    const unsigned after = ticks.count();
    let_another_pool_work();
    EXPECT_EQ(ticks.count(), after);
  }
  object->start_after(0s);
  EXPECT_TRUE(ticks.reaches(ticks.count() + 3));
  object.reset();
  const unsigned after = ticks.count();
  let_another_pool_work();
  EXPECT_EQ(ticks.count(), after);
}

// ---- the gate ------------------------------------------------------------------------------------------

class rearm_gates : public safe_test {
 protected:
  bool lets_rearm() {
    bool passed = false;
    gate_.rearm([&] { passed = true; });
    return passed;
  }
  bool lets_stop() {
    bool passed = false;
    gate_.stop([&] { passed = true; });
    return passed;
  }
  bool is_drained() {
    bool passed = false;
    gate_.stop_if_drained([&] { passed = true; });
    return passed;
  }

  tidepool::detail::rearm_gate gate_;
};

TEST_F(rearm_gates, open_with_the_last_drain_that_ends) {
  EXPECT_TRUE(lets_rearm());
  EXPECT_FALSE(is_drained());
  gate_.close();
  EXPECT_FALSE(lets_rearm());
  EXPECT_TRUE(is_drained());
  gate_.close();
  gate_.open();
  EXPECT_FALSE(lets_rearm());
  EXPECT_TRUE(is_drained());
  gate_.open();
  EXPECT_TRUE(lets_rearm());
  EXPECT_FALSE(is_drained());
}

TEST_F(rearm_gates, let_a_tick_stop_its_timer_until_that_is_gone) {
  EXPECT_TRUE(lets_stop());
  gate_.close();
  EXPECT_TRUE(lets_stop());
  gate_.end();
  EXPECT_FALSE(lets_stop());
  EXPECT_FALSE(lets_rearm());
}

TEST_F(rearm_gates, close_only_when_no_rearm_is_half_done) {
  tally arming;
  gate go_on;
  std::atomic<bool> armed = false;
  const std::jthread callback([&] {
    gate_.rearm([&] {
      arming.add();
      EXPECT_TRUE(go_on.pass());
      armed = true;
    });
  });
  ASSERT_TRUE(arming.reaches(1));
  contract::blocked_call drain([&] {
    gate_.close();
    EXPECT_TRUE(armed);
  });
  EXPECT_TRUE(drain.blocks());
  go_on.open();
  EXPECT_TRUE(drain.returns());
}

}  // namespace
}  // namespace safe
