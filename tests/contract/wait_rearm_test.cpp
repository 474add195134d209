// Waits that their callbacks set again, and that several threads set at once.
#include <atomic>

#include "contract/sources.hpp"

namespace {

using namespace contract;
using contract::wait;

class wait_rearm : public contract_test {
 protected:
  /// Signals `event` and returns when whichever wait of the pool of one that satisfied has called back.
  void signal(HANDLE event) {
    EXPECT_TRUE(SetEvent(event));
    let_signals_arrive();
    drain_pool_of_one(where_);
  }

  const pool one_{1};
  environment where_{one_};
  const handle event_ = automatic_event();
  const handle other_ = automatic_event();
};

// Contract 17
TEST_F(wait_rearm, a_callback_can_set_its_own_wait_again_and_again) {
  tally called;
  wait* self = nullptr;
  wait object{[&] {
                if (called.count() < 99) {
                  self->set(event_);
                }
                called.add();
              },
              where_};
  self = &object;
  object.set(event_);
  for (unsigned i = 1; i != 101; ++i) {
    EXPECT_TRUE(SetEvent(event_));
    ASSERT_TRUE(called.reaches(i));
  }
  signal(event_);
  EXPECT_EQ(called.count(), 100u);
  EXPECT_TRUE(take(event_));
}

// Contract 17, 35
TEST_F(wait_rearm, an_event_that_is_set_when_the_callback_returns_satisfies_the_wait_that_the_callback_set) {
  tally called;
  wait* self = nullptr;
  wait object{[&](PTP_CALLBACK_INSTANCE instance) {
                if (called.count() < 49) {
                  self->set(event_);
                  SetEventWhenCallbackReturns(instance, event_);
                }
                called.add();
              },
              where_};
  self = &object;
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called.reaches(50));
  object.wait_for_callbacks();
  EXPECT_EQ(called.count(), 50u);
}

// Contract 17
TEST_F(wait_rearm, a_wait_set_by_its_callback_can_call_back_before_that_callback_has_returned) {
  const pool two{2};
  environment where{two};
  gate again;
  std::atomic<int> calls{0};
  wait* self = nullptr;
  wait object{[&] {
                if (calls++ == 0) {
                  self->set(event_);
                  EXPECT_TRUE(SetEvent(event_));
                  EXPECT_TRUE(again.pass());
                } else {
                  again.open();
                }
              },
              where};
  self = &object;
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(again.pass());
}

// Contract 17
TEST_F(wait_rearm, two_waits_can_play_ping_pong) {
  tally called;
  wait* self[2] = {};
  wait ping{[&] {
              self[0]->set(event_);
              called.add();
              EXPECT_TRUE(SetEvent(other_));
            },
            where_};
  wait pong{[&] {
              self[1]->set(other_);
              called.add();
              if (called.count() < 200) {
                EXPECT_TRUE(SetEvent(event_));
              }
            },
            where_};
  self[0] = &ping;
  self[1] = &pong;
  ping.set(event_);
  pong.set(other_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called.reaches(200));
}

// Contract 17
TEST_F(wait_rearm, of_what_several_threads_set_at_once_nothing_is_left_but_the_last) {
  tally called;
  const handle last = automatic_event();
  wait object{[&] { called.add(); }, where_};
  for (unsigned round = 0; round != 10; ++round) {
    together(4, [&](unsigned i) {
      for (unsigned j = 0; j != 20; ++j) {
        switch ((i + j) % 4) {
          case 0: object.set(event_); break;
          case 1: object.set(other_, relative(far_away)); break;
          case 2: object.set(INVALID_HANDLE_VALUE, relative(far_away)); break;
          default: object.unset(); break;
        }
      }
    });
    object.set(last);
    let_signals_arrive();  // Wine takes notice of the change a moment later
    signal(event_);
    signal(other_);
    EXPECT_EQ(called.count(), round);
    EXPECT_TRUE(take(event_));
    EXPECT_TRUE(take(other_));
    EXPECT_TRUE(SetEvent(last));
    ASSERT_TRUE(called.reaches(round + 1));
  }
}

// Contract 17, 20. Every signal that is gone has called back, but for those that a drop took.
TEST_F(wait_rearm, threads_that_set_it_meet_the_signals_and_each_other) {
  const pool two{2};
  environment where{two};
  std::atomic<unsigned> settings{0};
  std::atomic<unsigned> signals{0};
  tally called;
  wait object{[&] { called.add(); }, where};
  together(3, [&](unsigned i) {
    for (unsigned j = 0; j != 100; ++j) {
      switch ((i + j) % 4) {
        case 0: object.unset(); break;
        case 1:
          EXPECT_TRUE(SetEvent(event_));
          ++signals;
          break;
        default:
          object.set(event_);
          ++settings;
          break;
      }
      if (j % 10 == 0) {
        std::this_thread::yield();
      }
    }
  });
  object.unset();
  let_signals_arrive();
  object.wait_for_callbacks();
  const unsigned before = called.count();
  EXPECT_LE(before, settings);
  EXPECT_LE(before, signals);
  take(event_);
  object.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(called.reaches(before + 1));
  object.wait_for_callbacks();
  EXPECT_EQ(called.count(), before + 1);
}

// Contract 18, 20
TEST_F(wait_rearm, a_signal_that_meets_the_setting_to_null_is_either_consumed_and_called_back_or_neither) {
  SKIP_UNDER_WINE("a signal that meets the setting to null can queue a callback after it");
  tally called;
  wait object{[&] { called.add(); }, where_};
  for (int round = 0; round != 100; ++round) {
    const unsigned before = called.count();
    object.set(event_);
    together(2, [&](unsigned i) {
      if (i == 0) {
        object.unset();
      } else {
        EXPECT_TRUE(SetEvent(event_));
      }
    });
    object.wait_for_callbacks();
    const bool left = take(event_);
    ASSERT_EQ(called.count(), before + (left ? 0 : 1));
  }
}

}  // namespace
