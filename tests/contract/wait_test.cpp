// When a wait calls back: once for each arming, with the result, when its object is signalled or its time has run out.
#include <atomic>
#include <deque>

#include "contract/sources.hpp"

namespace {

using namespace contract;
using contract::wait;

/// What a wait has called back with.
class activations {
 public:
  void operator()(TP_WAIT_RESULT result) {
    last_ = result;
    number_.add();
  }

  [[nodiscard]] bool reach(unsigned number) { return number_.reaches(number); }
  [[nodiscard]] unsigned number() { return number_.count(); }
  [[nodiscard]] TP_WAIT_RESULT last() const { return last_; }

 private:
  std::atomic<TP_WAIT_RESULT> last_{0xDEAD};
  tally number_;
};

constexpr TP_WAIT_RESULT signalled = WAIT_OBJECT_0;
constexpr TP_WAIT_RESULT timed_out = WAIT_TIMEOUT;

class wait_object : public contract_test {
 protected:
  /// Returns when what has been due by now has happened on the pool of one.
  void let_everything_happen() {
    let_due_times_pass();
    let_signals_arrive();
    drain_pool_of_one(where_);
  }

  const pool one_{1};
  environment where_{one_};
  const handle event_ = automatic_event();
  activations seen_;
  wait object_{[this](TP_WAIT_RESULT result) { seen_(result); }, where_};
};

// Contract 17
TEST_F(wait_object, it_calls_back_once_when_its_object_is_signalled) {
  object_.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_EQ(seen_.last(), signalled);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
}

// Contract 17
TEST_F(wait_object, it_calls_back_once_when_its_object_was_signalled_before) {
  EXPECT_TRUE(SetEvent(event_));
  object_.set(event_);
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_EQ(seen_.last(), signalled);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
}

// Contract 17
TEST_F(wait_object, it_does_not_call_back_before_its_object_is_signalled) {
  object_.set(event_);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 0u);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(seen_.reach(1));
}

// Contract 17
TEST_F(wait_object, one_that_was_never_set_does_not_call_back) {
  EXPECT_TRUE(SetEvent(event_));
  object_.unset();
  object_.unset();
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 0u);
  EXPECT_TRUE(take(event_));
  object_.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(seen_.reach(1));
}

// Contract 17
TEST_F(wait_object, one_arming_is_one_activation_although_its_object_stays_signalled) {
  const handle event = manual_event();
  activations seen;
  wait object{[&](TP_WAIT_RESULT result) { seen(result); }, where_};
  object.set(event);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(seen.reach(1));
  EXPECT_TRUE(SetEvent(event));
  let_everything_happen();
  EXPECT_EQ(seen.number(), 1u);
  object.set(event);
  EXPECT_TRUE(seen.reach(2));
  let_everything_happen();
  EXPECT_EQ(seen.number(), 2u);
}

// Contract 17, 20
TEST_F(wait_object, one_arming_takes_one_signal) {
  object_.set(event_);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_TRUE(SetEvent(event_));
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
  EXPECT_TRUE(take(event_));
}

// Contract 17
TEST_F(wait_object, it_can_be_set_again_after_each_activation) {
  for (unsigned i = 1; i != 100; ++i) {
    object_.set(event_);
    EXPECT_TRUE(SetEvent(event_));
    ASSERT_TRUE(seen_.reach(i));
  }
}

// Contract 2
TEST_F(wait_object, a_callback_gets_an_instance_the_context_the_wait_and_the_result) {
  struct seen {
    std::atomic<PTP_CALLBACK_INSTANCE> instance{nullptr};
    std::atomic<PTP_WAIT> object{nullptr};
    std::atomic<TP_WAIT_RESULT> result{0xDEAD};
    gate called;
  } its;
  const PTP_WAIT object = CreateThreadpoolWait(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WAIT self, TP_WAIT_RESULT result) {
        auto& mine = *static_cast<seen*>(context);
        mine.instance = instance;
        mine.object = self;
        mine.result = result;
        mine.called.open();
      },
      &its, nullptr);
  ASSERT_NE(object, nullptr);
  SetThreadpoolWait(object, event_, nullptr);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(its.called.pass());
  EXPECT_NE(its.instance, nullptr);
  EXPECT_EQ(its.object, object);
  EXPECT_EQ(its.result, signalled);
  WaitForThreadpoolWaitCallbacks(object, FALSE);
  CloseThreadpoolWait(object);
}

// ---- time-outs -------------------------------------------------------------------------------------

class wait_timeout : public wait_object {};

// Contract 17
TEST_F(wait_timeout, it_calls_back_once_when_its_time_has_run_out) {
  object_.set(event_, relative(5ms));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_EQ(seen_.last(), timed_out);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
}

// Contract 17
TEST_F(wait_timeout, an_absolute_time_can_be_given) {
  object_.set(event_, filetime((system_time() + 5ms).count()));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_EQ(seen_.last(), timed_out);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
}

// Contract 17
TEST_F(wait_timeout, zero_and_a_time_in_the_past_time_out_at_once_when_the_object_is_not_signalled) {
  unsigned number = 0;
  for (const std::int64_t timeout : {std::int64_t{0}, std::int64_t{1}, (system_time() - 1ms).count()}) {
    object_.set(event_, filetime(timeout));
    EXPECT_TRUE(seen_.reach(++number));
    EXPECT_EQ(seen_.last(), timed_out);
  }
  let_everything_happen();
  EXPECT_EQ(seen_.number(), number);
}

// Contract 17
TEST_F(wait_timeout, zero_and_a_time_in_the_past_find_an_object_that_is_signalled) {
  SKIP_UNDER_WINE("a wait of time-out 0 on a signalled event reports the time-out");
  unsigned number = 0;
  for (const std::int64_t timeout : {std::int64_t{0}, std::int64_t{1}, (system_time() - 1ms).count()}) {
    EXPECT_TRUE(SetEvent(event_));
    object_.set(event_, filetime(timeout));
    EXPECT_TRUE(seen_.reach(++number));
    EXPECT_EQ(seen_.last(), signalled);
    EXPECT_FALSE(take(event_));
  }
}

// Contract 11, 17
TEST_F(wait_timeout, it_never_runs_out_early) {
  tally ran_out;
  std::deque<wait> all;
  for (int i = 1; i != 50; ++i) {
    const ticks delay = clock_step + ticks{i * 7'001};
    const auto start = monotonic_time();
    const ticks due = system_time() + delay;
    if (i % 2 == 0) {
      all.emplace_back([&, start, delay] {
        EXPECT_GE(monotonic_time() - start + clock_step, delay);
        ran_out.add();
      });
      all.back().set(event_, relative(delay));
    } else {
      all.emplace_back([&, due] {
        EXPECT_GE(system_time() + clock_step, due);
        ran_out.add();
      });
      all.back().set(event_, filetime(due.count()));
    }
  }
  EXPECT_TRUE(ran_out.reaches(static_cast<unsigned>(all.size())));
}

// Contract 17
TEST_F(wait_timeout, without_one_a_wait_goes_on) {
  object_.set(event_);
  wait with{[] {}, where_};
  with.set(event_, relative(1ms));
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 0u);
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_EQ(seen_.last(), signalled);
}

// Contract 17
TEST_F(wait_timeout, the_farthest_do_not_run_out) {
  for (const std::int64_t timeout :
       {farthest_absolute, farthest_absolute - 1, farthest_relative, farthest_relative + 1}) {
    activations seen;
    wait object{[&](TP_WAIT_RESULT result) { seen(result); }, where_};
    object.set(event_, filetime(timeout));
    let_everything_happen();
    EXPECT_EQ(seen.number(), 0u);
    EXPECT_TRUE(SetEvent(event_));
    EXPECT_TRUE(seen.reach(1));
    EXPECT_EQ(seen.last(), signalled);
  }
}

// Contract 17
TEST_F(wait_timeout, it_is_over_when_the_object_was_signalled_before) {
  object_.set(event_, relative(10ms));
  EXPECT_TRUE(SetEvent(event_));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_EQ(seen_.last(), signalled);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
}

// Contract 17, 20
TEST_F(wait_timeout, a_wait_that_has_timed_out_takes_no_signal_any_more) {
  object_.set(event_, relative(1ms));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_TRUE(SetEvent(event_));
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
  EXPECT_TRUE(take(event_));
}

// Contract 17, 20
TEST_F(wait_timeout, when_it_meets_the_signal_there_is_one_activation_and_its_result_is_true) {
  // The signal comes from a little before the time-out to a little after it has been noticed.
  constexpr auto timeout = 100us;
  const unsigned rounds = under_wine() ? 60 : 300;
  for (unsigned round = 1; round != rounds; ++round) {
    const auto signal_at = monotonic_time() + timeout + (round % 60) * 2us - 20us;
    object_.set(event_, relative(timeout));
    EXPECT_TRUE(eventually_without_sleep([&] { return monotonic_time() >= signal_at; }));
    EXPECT_TRUE(SetEvent(event_));
    ASSERT_TRUE(seen_.reach(round));
    object_.wait_for_callbacks();
    ASSERT_EQ(seen_.number(), round);
    if (seen_.last() == signalled) {
      ASSERT_FALSE(take(event_)) << "a signal that was reported was not consumed";
    } else {
      ASSERT_EQ(seen_.last(), timed_out);
      ASSERT_TRUE(take(event_)) << "a signal was consumed and not reported";
    }
  }
}

// Contract 17
TEST_F(wait_timeout, one_without_an_object_runs_out_and_is_not_early) {
  const auto start = monotonic_time();
  object_.set(INVALID_HANDLE_VALUE, relative(20ms));
  EXPECT_TRUE(seen_.reach(1));
  EXPECT_GE(monotonic_time() - start + clock_step, 20ms);
  EXPECT_EQ(seen_.last(), timed_out);
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 1u);
}

// Contract 17
TEST_F(wait_timeout, one_without_an_object_can_be_absolute_or_at_once_and_set_to_null) {
  object_.set(INVALID_HANDLE_VALUE, filetime((system_time() + 1ms).count()));
  EXPECT_TRUE(seen_.reach(1));
  object_.set(INVALID_HANDLE_VALUE, filetime(0));
  EXPECT_TRUE(seen_.reach(2));
  EXPECT_EQ(seen_.last(), timed_out);
  object_.set(INVALID_HANDLE_VALUE, relative(10ms));
  object_.unset();
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 2u);
}

// Contract 17
TEST_F(wait_timeout, one_with_a_null_handle_does_not_run_out) {
  object_.set(nullptr, relative(1ms));
  object_.set(nullptr, filetime(0));
  let_everything_happen();
  EXPECT_EQ(seen_.number(), 0u);
}

}  // namespace
