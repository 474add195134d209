// Setting a wait, setting it anew, setting it to null, and closing what it waits for.
#include <atomic>
#include <optional>

#include "contract/sources.hpp"

namespace {

using namespace contract;
using contract::wait;

class wait_set : public contract_test {
 protected:
  /// Signals `event` and returns when whichever wait of the pool of one that satisfied has called back.
  void signal(HANDLE event) {
    EXPECT_TRUE(SetEvent(event));
    let_signals_arrive();
    drain_pool_of_one(where_);
  }

  /// Wine's waiting thread takes a moment to take notice of a change.
  static void let_a_change_be_noticed() {
    if (under_wine()) {
      let_signals_arrive();
    }
  }

  const pool one_{1};
  environment where_{one_};
  const handle event_ = automatic_event();
  const handle other_ = automatic_event();
};

// Contract 17
TEST_F(wait_set, setting_it_on_another_object_ends_its_interest_in_the_first) {
  tally called;
  wait object{[&] { called.add(); }, where_};
  object.set(event_);
  object.set(other_);
  let_a_change_be_noticed();
  signal(event_);
  EXPECT_EQ(called.count(), 0u);
  EXPECT_TRUE(take(event_)) << "the signal of the object that was replaced was consumed";
  EXPECT_TRUE(SetEvent(other_));
  EXPECT_TRUE(called.reaches(1));
  EXPECT_FALSE(take(other_));
}

// Contract 17
TEST_F(wait_set, setting_it_on_a_signalled_object_calls_back_for_that_one) {
  tally called;
  wait object{[&] { called.add(); }, where_};
  object.set(event_);
  EXPECT_TRUE(SetEvent(other_));
  object.set(other_);
  EXPECT_TRUE(called.reaches(1));
  signal(event_);
  EXPECT_EQ(called.count(), 1u);
  EXPECT_TRUE(take(event_));
}

// Contract 17
TEST_F(wait_set, setting_it_anew_replaces_the_time_out) {
  tally called;
  std::atomic<TP_WAIT_RESULT> last{0};
  wait object{[&](TP_WAIT_RESULT result) {
                last = result;
                called.add();
              },
              where_};
  object.set(event_, relative(10ms));
  object.set(event_);
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(called.count(), 0u);
  object.set(event_, relative(10ms));
  object.set(event_, relative(far_away));
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(called.count(), 0u);
  object.set(event_, relative(1ms));
  EXPECT_TRUE(called.reaches(1));
  EXPECT_EQ(last, TP_WAIT_RESULT{WAIT_TIMEOUT});
}

// Contract 18
TEST_F(wait_set, setting_it_to_null_disarms_it) {
  std::optional<tally> called;
  std::optional<wait> object;
  const ticks delay = in_time([&](ticks time_out) {
    object.reset();
    called.emplace();
    object.emplace([&] { called->add(); }, where_);
    object->set(event_, relative(time_out));
    object->unset();
  });
  let_due_times_pass(2 * delay);
  signal(event_);
  EXPECT_EQ(called->count(), 0u);
  EXPECT_TRUE(take(event_)) << "a wait that was set to null consumed a signal";
  object->set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called->reaches(1));
}

// Contract 18
TEST_F(wait_set, a_callback_that_is_queued_survives_the_setting_to_null) {
  for (const bool by_timeout : {false, true}) {
    tally called;
    std::atomic<TP_WAIT_RESULT> last{0xDEAD};
    wait object{[&](TP_WAIT_RESULT result) {
                  last = result;
                  called.add();
                },
                where_};
    occupier busy{where_, 1};
    ASSERT_TRUE(busy.held());
    if (by_timeout) {
      object.set(event_, relative(1ms));
      let_due_times_pass();
    } else {
      object.set(event_);
      EXPECT_TRUE(SetEvent(event_));
      let_signals_arrive();
    }
    object.unset();
    object.unset();
    busy.release();
    object.wait_for_callbacks();
    EXPECT_EQ(called.count(), 1u);
    EXPECT_EQ(last, by_timeout ? TP_WAIT_RESULT{WAIT_TIMEOUT} : TP_WAIT_RESULT{WAIT_OBJECT_0});
  }
}

// Contract 18, 19
TEST_F(wait_set, a_queued_callback_is_gone_after_setting_to_null_and_a_drop_and_its_signal_too) {
  std::atomic<int> called{0};
  wait object{[&] { ++called; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  let_signals_arrive();
  object.unset();
  object.cancel();
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(called, 0);
  EXPECT_FALSE(take(event_)) << "what was consumed is not given back";
}

// Contract 18. Each setting that was not cancelled calls back.
TEST_F(wait_set, a_callback_that_is_queued_survives_the_next_setting) {
  tally called;
  wait object{[&] { called.add(); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  let_signals_arrive();
  object.set(other_);
  EXPECT_TRUE(SetEvent(other_));
  let_signals_arrive();
  busy.release();
  EXPECT_TRUE(called.reaches(2));
  drain_pool_of_one(where_);
  EXPECT_EQ(called.count(), 2u);
}

// Contract 17, 18
TEST_F(wait_set, of_two_callbacks_that_are_queued_each_has_its_own_result) {
  std::atomic<int> signalled{0};
  std::atomic<int> timed_out{0};
  wait object{[&](TP_WAIT_RESULT result) { ++(result == WAIT_OBJECT_0 ? signalled : timed_out); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set(event_, relative(1ms));
  let_due_times_pass();
  object.set(event_, relative(far_away));
  EXPECT_TRUE(SetEvent(event_));
  let_signals_arrive();
  busy.release();
  object.wait_for_callbacks();
  EXPECT_EQ(signalled, 1);
  EXPECT_EQ(timed_out, 1);
}

// Contract 17, 19
TEST_F(wait_set, a_callback_that_was_dropped_leaves_no_result_to_the_next) {
  std::atomic<TP_WAIT_RESULT> last{0xDEAD};
  wait object{[&](TP_WAIT_RESULT result) { last = result; }, where_};
  for (const bool drop_timeout : {true, false}) {
    occupier busy{where_, 1};
    ASSERT_TRUE(busy.held());
    for (const bool by_timeout : {drop_timeout, !drop_timeout}) {
      if (by_timeout) {
        object.set(event_, relative(1ms));
        let_due_times_pass();
      } else {
        object.set(event_);
        EXPECT_TRUE(SetEvent(event_));
        let_signals_arrive();
      }
      if (by_timeout == drop_timeout) {
        object.cancel();
      }
    }
    busy.release();
    object.wait_for_callbacks();
    EXPECT_EQ(last, drop_timeout ? TP_WAIT_RESULT{WAIT_OBJECT_0} : TP_WAIT_RESULT{WAIT_TIMEOUT});
  }
}

// Contract 19
TEST_F(wait_set, a_drop_does_not_disarm_it) {
  tally called;
  wait object{[&] { called.add(); }, where_};
  object.set(event_);
  object.cancel();
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called.reaches(1));
  object.set(other_, relative(10ms));
  object.cancel();
  EXPECT_TRUE(called.reaches(2));
}

// Contract 20, 22
TEST_F(wait_set, one_that_is_closed_consumes_no_signal_any_more) {
  std::atomic<int> called{0};
  wait object{[&] { ++called; }, where_};
  object.set(event_, relative(10ms));
  object.close();
  let_due_times_pass();
  signal(event_);
  EXPECT_EQ(called, 0);
  EXPECT_TRUE(take(event_));
}

// ---- closing what a wait is set on -----------------------------------------------------------------

// Contract 21
TEST_F(wait_set, closing_the_handle_right_after_setting_it_changes_nothing) {
  SKIP_UNDER_WINE("closing a handle that a wait is set on stops other waits");
  tally called;
  std::atomic<TP_WAIT_RESULT> last{0xDEAD};
  handle first = automatic_event();
  const handle second = duplicate(first);
  wait object{[&](TP_WAIT_RESULT result) {
                last = result;
                called.add();
              },
              where_};
  object.set(first);
  first.close();
  EXPECT_TRUE(SetEvent(second));
  EXPECT_TRUE(called.reaches(1));
  EXPECT_EQ(last, TP_WAIT_RESULT{WAIT_OBJECT_0});
  EXPECT_FALSE(take(second));
}

// Contract 21
TEST_F(wait_set, a_wait_on_an_object_whose_last_handle_was_closed_still_times_out_and_can_be_set_anew) {
  SKIP_UNDER_WINE("closing a handle that a wait is set on stops other waits");
  tally called;
  wait object{[&] { called.add(); }, where_};
  handle first = automatic_event();
  object.set(first, relative(1ms));
  first.close();
  EXPECT_TRUE(called.reaches(1));
  handle second = automatic_event();
  object.set(second);
  second.close();
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called.reaches(2));
  handle third = automatic_event();
  object.set(third);
  third.close();
  object.unset();
  handle fourth = automatic_event();
  object.set(fourth);
  fourth.close();
  object.close();
}

// Contract 21
TEST_F(wait_set, a_handle_that_takes_the_number_of_a_closed_one_is_not_waited_for) {
  SKIP_UNDER_WINE("closing a handle that a wait is set on stops other waits");
  std::atomic<int> called{0};
  handle first = automatic_event();
  const handle second = duplicate(first);
  wait object{[&] { ++called; }, where_};
  object.set(first);
  first.close();
  std::vector<handle> successors;
  for (int i = 0; i != 50; ++i) {
    successors.push_back(automatic_event(true));
  }
  let_signals_arrive();
  drain_pool_of_one(where_);
  EXPECT_EQ(called, 0);
  for (const handle& each : successors) {
    EXPECT_TRUE(take(each));
  }
  signal(second);
  EXPECT_EQ(called, 1);
}

// Contract 21
TEST_F(wait_set, its_object_can_be_closed_while_the_callback_is_queued_and_in_the_callback) {
  std::atomic<int> called{0};
  handle event = automatic_event();
  handle closed_inside = automatic_event();
  wait object{[&] { ++called; }, where_};
  wait closing{[&] {
                 closed_inside.close();
                 ++called;
               },
               where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set(event);
  closing.set(closed_inside);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(SetEvent(closed_inside));
  let_signals_arrive();
  event.close();
  busy.release();
  object.wait_for_callbacks();
  closing.wait_for_callbacks();
  EXPECT_EQ(called, 2);
}

}  // namespace
