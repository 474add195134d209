// WaitForThreadpoolTimerCallbacks and WaitForThreadpoolWaitCallbacks, in both forms.
#include <atomic>

#include "contract/source_kinds.hpp"
#include "contract/waiters.hpp"

namespace {

using namespace contract;

template <class Source>
class source_drain : public source_test {};
TYPED_TEST_SUITE(source_drain, source_kinds);

// Contract 15
TYPED_TEST(source_drain, waiting_for_one_that_was_never_set_returns) {
  TypeParam idle{[] {}};
  idle.wait_for_callbacks();
  idle.cancel();
  idle.wait_for_callbacks();
}

// Contract 15
TYPED_TEST(source_drain, it_waits_for_a_callback_that_is_queued) {
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  EXPECT_EQ(ran, 0);
  gate about_to_wait;
  std::thread releaser{[&] {
    EXPECT_TRUE(about_to_wait.pass());
    busy.release();
  }};
  about_to_wait.open();
  source.wait_for_callbacks();
  EXPECT_EQ(ran, 1);
  releaser.join();
}

// Contract 15
TYPED_TEST(source_drain, it_waits_for_a_callback_that_runs_in_both_forms) {
  for (const bool cancel : {false, true}) {
    gate started;
    gate about_to_wait;
    std::atomic<bool> finished{false};
    TypeParam source{[&] {
      started.open();
      EXPECT_TRUE(about_to_wait.pass());
      for (int i = 0; i != 100; ++i) {
        std::this_thread::yield();
      }
      finished = true;
    }};
    source.fire();
    ASSERT_TRUE(started.pass());
    about_to_wait.open();
    if (cancel) {
      source.cancel();
    } else {
      source.wait_for_callbacks();
    }
    EXPECT_TRUE(finished) << (cancel ? "cancelling" : "draining");
  }
}

// Contract 15, 19
TYPED_TEST(source_drain, it_neither_waits_for_what_has_not_come_due_nor_disarms_it) {
  tally ran;
  TypeParam source{[&] { ran.add(); }, this->where_};
  source.arm();
  source.wait_for_callbacks();
  source.cancel();
  source.let_come_due();
  EXPECT_TRUE(ran.reaches(1));
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran.count(), 1u);
}

// Contract 15, 19
TYPED_TEST(source_drain, a_queued_callback_is_dropped_by_the_cancelling_form) {
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  source.cancel();              // would not return if it waited for the dropped one
  source.wait_for_callbacks();  // nor would this
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran, 0);
}

// Contract 15, 19
TYPED_TEST(source_drain, what_fires_after_a_drop_runs) {
  for (int round = 0; round != 5; ++round) {
    std::atomic<int> ran{0};
    TypeParam source{[&] { ++ran; }, this->where_};
    occupier busy{this->where_, 1};
    ASSERT_TRUE(busy.held());
    source.fire();
    source.let_fired_be_queued();
    source.cancel();
    source.fire();
    source.let_fired_be_queued();
    busy.release();
    source.wait_for_callbacks();
    drain_pool_of_one(this->where_);
    EXPECT_EQ(ran, 1);
  }
}

// Contract 15
TYPED_TEST(source_drain, several_threads_can_wait_for_one_object_in_both_forms) {
  for (int round = 0; round != 20; ++round) {
    gate started;
    gate may_return;
    std::atomic<int> ran{0};
    TypeParam source{[&] {
      started.open();
      EXPECT_TRUE(may_return.pass());
      ++ran;
    }};
    source.fire();
    ASSERT_TRUE(started.pass());
    let_waiters_find_it_over(source, may_return, ran);
  }
}

// Contract 15
TYPED_TEST(source_drain, a_drop_releases_another_thread_that_waits_for_what_is_dropped) {
  SKIP_UNDER_WINE("dropping the last callback does not wake another waiter");
  for (int round = 0; round != 10; ++round) {
    TypeParam source{[] {}, this->where_};
    occupier busy{this->where_, 1};
    ASSERT_TRUE(busy.held());
    source.fire();
    source.let_fired_be_queued();
    gate about_to_wait;
    gate released;
    std::thread waiter{[&] {
      about_to_wait.open();
      source.wait_for_callbacks();
      released.open();
    }};
    EXPECT_TRUE(about_to_wait.pass());
    std::this_thread::yield();
    source.cancel();
    EXPECT_TRUE(released.pass());
    busy.release();
    waiter.join();
  }
}

// Contract 15. The hazard that the safe layer's re-arm suppression is for.
TYPED_TEST(source_drain, an_arming_by_the_callback_that_is_waited_for_outlives_both_forms) {
  for (const bool cancel : {false, true}) {
    gate started;
    gate about_to_wait;
    tally ran;
    TypeParam* self = nullptr;
    TypeParam source{[&] {
                       if (ran.count() == 0) {
                         started.open();
                         EXPECT_TRUE(about_to_wait.pass());
                         self->arm();
                       }
                       ran.add();
                     },
                     this->where_};
    self = &source;
    source.fire();
    ASSERT_TRUE(started.pass());
    source.unset();
    about_to_wait.open();
    if (cancel) {
      source.cancel();
    } else {
      source.wait_for_callbacks();
    }
    EXPECT_GE(ran.count(), 1u);
    source.let_come_due();
    EXPECT_TRUE(ran.reaches(2)) << (cancel ? "cancelling" : "draining");
  }
}

// Contract 15. A callback that fires its own object again, a thread that fires it too, and one that waits in both forms.
// The callbacks give up in the end: nobody promises that a wait ends while every callback queues the next.
TYPED_TEST(source_drain, callbacks_that_fire_their_own_object_meet_threads_that_fire_it_and_wait) {
  if constexpr (std::is_same_v<TypeParam, wait_source>) {
    SKIP_UNDER_WINE("a signal that meets the setting to null can queue a callback after it");
  }
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> chances{50};
    std::atomic<int> inside{0};
    tally ran;
    TypeParam* self = nullptr;
    TypeParam source{[&] {
                       ++inside;
                       if (--chances > 0) {
                         self->fire();
                       }
                       ran.add();
                       --inside;
                     },
                     where};
    self = &source;
    source.fire();
    std::thread firing{[&] {
      for (int i = 0; i != 10; ++i) {
        source.fire();
        std::this_thread::yield();
      }
    }};
    for (int i = 0; i != 10; ++i) {
      source.cancel();
      source.wait_for_callbacks();
    }
    firing.join();
    chances = 0;
    source.wait_for_callbacks();  // every callback that begins from here on has seen it
    source.unset();
    source.wait_for_callbacks();
    EXPECT_EQ(inside, 0);
    const unsigned before = ran.count();
    occupier both{where, 2};
    EXPECT_TRUE(both.held());
    EXPECT_EQ(ran.count(), before) << "a callback ran after it was unset and waited for";
    both.release();
    source.fire();
    EXPECT_TRUE(ran.reaches(before + 1)) << "it does not fire any more";
  }
}

// Contract 15
TYPED_TEST(source_drain, no_callback_runs_when_an_object_was_unset_and_then_dropped) {
  if constexpr (std::is_same_v<TypeParam, wait_source>) {
    SKIP_UNDER_WINE("a signal that meets the setting to null can queue a callback after it");
  }
  // Callbacks that have begun are waited for, others do not begin.
  const pool two{2};
  environment where{two};
  unsigned ran_altogether = 0;
  for (int round = 0; round != 100; ++round) {
    std::atomic<bool> over{false};
    std::atomic<int> late{0};
    tally ran;
    TypeParam source{[&] {
                       late += over ? 1 : 0;
                       ran.add();
                       late += over ? 1 : 0;
                     },
                     where};
    source.fire();
    if (round % 4 == 0) {
      EXPECT_TRUE(ran.reaches(1));
    } else {
      for (int i = 0; i != round % 8; ++i) {
        std::this_thread::yield();
      }
    }
    source.unset();
    source.cancel();
    over = true;
    ran_altogether += ran.count();
    source.close();
    ASSERT_LE(ran.count(), 1u);
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
    ASSERT_EQ(late, 0);
  }
  EXPECT_GE(ran_altogether, 25u);
}

}  // namespace
