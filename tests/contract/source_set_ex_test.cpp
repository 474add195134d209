// SetThreadpoolTimerEx and SetThreadpoolWaitEx: whether what was set before has been cancelled.
#include <atomic>
#include <vector>

#include "contract/sources.hpp"

namespace {

using namespace contract;
using contract::wait;

#define SKIP_WITHOUT_EX() SKIP_UNDER_WINE("SetThreadpoolTimerEx and SetThreadpoolWaitEx are not there")

bool set_ex(timer& object, FILETIME due, DWORD period = 0) {
  return SetThreadpoolTimerEx(object.get(), &due, period, 0) != FALSE;
}
bool set_ex(timer& object, ticks delay) { return set_ex(object, relative(delay)); }
bool unset_ex(timer& object) { return SetThreadpoolTimerEx(object.get(), nullptr, 0, 0) != FALSE; }

bool set_ex(wait& object, HANDLE handle) {
  return SetThreadpoolWaitEx(object.get(), handle, nullptr, nullptr) != FALSE;
}
bool set_ex(wait& object, HANDLE handle, FILETIME timeout) {
  return SetThreadpoolWaitEx(object.get(), handle, &timeout, nullptr) != FALSE;
}
bool unset_ex(wait& object) { return SetThreadpoolWaitEx(object.get(), nullptr, nullptr, nullptr) != FALSE; }

class timer_set_ex : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};

// Contract 16
TEST_F(timer_set_ex, it_cancels_what_is_armed_and_nothing_else) {
  SKIP_WITHOUT_EX();
  std::atomic<int> fired{0};
  timer object{[&] { ++fired; }, where_};
  occupier busy{where_, 1};  // should the timer come due too early, it is queued, which counts as armed
  ASSERT_TRUE(busy.held());
  EXPECT_FALSE(unset_ex(object)) << "new";
  EXPECT_FALSE(set_ex(object, 10ms)) << "not set";
  EXPECT_TRUE(object.is_set());
  EXPECT_TRUE(set_ex(object, 10ms)) << "armed";
  EXPECT_TRUE(unset_ex(object)) << "armed";
  EXPECT_FALSE(object.is_set());
  EXPECT_FALSE(unset_ex(object)) << "set to null";
  EXPECT_FALSE(set_ex(object, far_away)) << "set to null";
  object.set_after(far_away);
  EXPECT_TRUE(unset_ex(object)) << "armed by SetThreadpoolTimer";
  busy.release();
  let_due_times_pass();
  drain_pool_of_one(where_);
  EXPECT_EQ(fired, 0);
}

// Contract 16
TEST_F(timer_set_ex, it_fires_what_it_sets) {
  SKIP_WITHOUT_EX();
  tally fired;
  timer object{[&] { fired.add(); }, where_};
  EXPECT_FALSE(set_ex(object, filetime(0)));
  EXPECT_TRUE(fired.reaches(1));
  set_ex(object, 1ms);
  EXPECT_TRUE(fired.reaches(2));
  set_ex(object, filetime((system_time() + 1ms).count()));
  EXPECT_TRUE(fired.reaches(3));
  set_ex(object, filetime(0), 1);
  EXPECT_TRUE(fired.reaches(6));
}

// Contract 13, 16. Also when others are armed: setting a timer beside others may be made shorter.
TEST_F(timer_set_ex, a_queued_tick_counts_as_cancelled_and_does_not_run) {
  SKIP_WITHOUT_EX();
  timer other{[] {}, where_};
  for (const bool beside_another : {false, true}) {
    if (beside_another) {
      other.set_after(far_away);
    }
    for (const bool to_null : {false, true}) {
      std::atomic<int> fired{0};
      timer object{[&] { ++fired; }, where_};
      occupier busy{where_, 1};
      ASSERT_TRUE(busy.held());
      object.set_now();
      let_due_times_pass();
      EXPECT_TRUE(to_null ? unset_ex(object) : set_ex(object, far_away));
      busy.release();
      drain_pool_of_one(where_);
      EXPECT_EQ(fired, 0);
    }
  }
}

// Contract 16
TEST_F(timer_set_ex, a_callback_that_runs_or_has_run_is_not_cancelled) {
  SKIP_WITHOUT_EX();
  gate started;
  gate may_return;
  timer object{[&] {
                 started.open();
                 EXPECT_TRUE(may_return.pass());
               },
               where_};
  object.set_now();
  ASSERT_TRUE(started.pass());
  EXPECT_FALSE(set_ex(object, far_away)) << "running";
  EXPECT_TRUE(unset_ex(object)) << "running, and armed for the next time";
  EXPECT_FALSE(set_ex(object, filetime(0))) << "running, and set to null";
  may_return.open();
  let_due_times_pass();
  object.wait_for_callbacks();
  EXPECT_FALSE(unset_ex(object)) << "fired";
}

// Contract 14, 16
TEST_F(timer_set_ex, a_periodic_timer_is_cancelled_between_its_ticks) {
  SKIP_WITHOUT_EX();
  tally ticked;
  timer object{[&] { ticked.add(); }, where_};
  set_ex(object, filetime(0), period_of(far_away));
  EXPECT_TRUE(ticked.reaches(1));
  object.wait_for_callbacks();
  EXPECT_TRUE(unset_ex(object));
  EXPECT_FALSE(unset_ex(object));
}

// Contract 16. What the result is for: every setting has a callback, or was cancelled. With other timers around, too.
TEST_F(timer_set_ex, settings_less_cancellations_are_callbacks) {
  SKIP_WITHOUT_EX();
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 40; ++round) {
    timer other{[] {}, where};
    if (round % 2 != 0) {
      other.set_after(far_away);
    }
    std::atomic<int> owed{0};
    tally fired;
    timer object{[&] { fired.add(); }, where};
    together(3, [&](unsigned i) {
      for (unsigned j = 0; j != 40; ++j) {
        if ((i + j) % 3 == 0) {
          owed -= unset_ex(object) ? 1 : 0;
        } else {
          owed += set_ex(object, ticks{(j % 4) * 100}) ? 0 : 1;
        }
      }
    });
    owed -= unset_ex(object) ? 1 : 0;
    object.wait_for_callbacks();
    ASSERT_EQ(static_cast<int>(fired.count()), owed);
    owed += set_ex(object, ticks{1}) ? 0 : 1;
    EXPECT_TRUE(fired.reaches(static_cast<unsigned>(owed)));
  }
}

class wait_set_ex : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
  const handle event_ = automatic_event();
};

// Contract 16 for waits
TEST_F(wait_set_ex, it_cancels_what_is_armed_and_nothing_else) {
  SKIP_WITHOUT_EX();
  std::atomic<int> called{0};
  wait object{[&] { ++called; }, where_};
  EXPECT_FALSE(unset_ex(object)) << "new";
  std::vector<bool> cancelled;
  const ticks delay = in_time([&](ticks time_out) {
    object.wait_for_callbacks();
    called = 0;
    cancelled.clear();
    cancelled.push_back(set_ex(object, event_));
    cancelled.push_back(set_ex(object, event_, relative(time_out)));
    cancelled.push_back(set_ex(object, event_, relative(time_out)));
    cancelled.push_back(unset_ex(object));
    cancelled.push_back(unset_ex(object));
    cancelled.push_back(set_ex(object, INVALID_HANDLE_VALUE, relative(time_out)));
    cancelled.push_back(unset_ex(object));
  });
  ASSERT_EQ(cancelled.size(), 7u);
  EXPECT_FALSE(cancelled[0]) << "not set";
  EXPECT_TRUE(cancelled[1]) << "armed";
  EXPECT_TRUE(cancelled[2]) << "armed with a time-out";
  EXPECT_TRUE(cancelled[3]) << "armed with a time-out";
  EXPECT_FALSE(cancelled[4]) << "set to null";
  EXPECT_FALSE(cancelled[5]) << "set to null";
  EXPECT_TRUE(cancelled[6]) << "armed without an object";
  object.set(event_);
  EXPECT_TRUE(unset_ex(object)) << "armed by SetThreadpoolWait";
  let_due_times_pass(2 * delay);
  EXPECT_TRUE(SetEvent(event_));
  let_signals_arrive();
  drain_pool_of_one(where_);
  EXPECT_EQ(called, 0);
  EXPECT_TRUE(take(event_));
}

// Contract 17
TEST_F(wait_set_ex, it_calls_back_for_what_it_sets) {
  SKIP_WITHOUT_EX();
  tally called;
  std::atomic<TP_WAIT_RESULT> last{0xDEAD};
  wait object{[&](TP_WAIT_RESULT result) {
                last = result;
                called.add();
              },
              where_};
  set_ex(object, event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called.reaches(1));
  EXPECT_EQ(last, TP_WAIT_RESULT{WAIT_OBJECT_0});
  set_ex(object, event_, relative(1ms));
  EXPECT_TRUE(called.reaches(2));
  EXPECT_EQ(last, TP_WAIT_RESULT{WAIT_TIMEOUT});
}

// Contract 18
TEST_F(wait_set_ex, a_callback_that_is_queued_runs_or_has_run_is_not_cancelled) {
  SKIP_WITHOUT_EX();
  gate started;
  gate may_return;
  tally called;
  wait object{[&] {
                started.open();
                EXPECT_TRUE(may_return.pass());
                called.add();
              },
              where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  let_signals_arrive();
  EXPECT_FALSE(unset_ex(object)) << "queued";
  EXPECT_FALSE(unset_ex(object)) << "queued and set to null";
  busy.release();
  ASSERT_TRUE(started.pass());
  EXPECT_FALSE(unset_ex(object)) << "running";
  may_return.open();
  object.wait_for_callbacks();
  EXPECT_FALSE(unset_ex(object)) << "returned";
  EXPECT_EQ(called.count(), 1u);
}

// Contract 16, 18. What the result is for: every setting has a callback, or was cancelled.
TEST_F(wait_set_ex, settings_less_cancellations_are_callbacks) {
  SKIP_WITHOUT_EX();
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> owed{0};
    tally called;
    wait object{[&] { called.add(); }, where};
    together(3, [&](unsigned i) {
      for (unsigned j = 0; j != 40; ++j) {
        switch ((i + j) % 4) {
          case 0: owed -= unset_ex(object) ? 1 : 0; break;
          case 1: EXPECT_TRUE(SetEvent(event_)); break;
          case 2: owed += set_ex(object, event_) ? 0 : 1; break;
          default: owed += set_ex(object, event_, relative(ticks{j * 10})) ? 0 : 1; break;
        }
      }
    });
    owed -= unset_ex(object) ? 1 : 0;
    object.wait_for_callbacks();
    ASSERT_EQ(static_cast<int>(called.count()), owed);
    EXPECT_TRUE(SetEvent(event_));
    owed += set_ex(object, event_) ? 0 : 1;
    EXPECT_TRUE(called.reaches(static_cast<unsigned>(owed)));
  }
}

}  // namespace
