// Closing timers and waits that are idle, armed, queued, running, or called back right now.
#include <atomic>

#include "contract/source_kinds.hpp"

namespace {

using namespace contract;

template <class Source>
class source_close : public source_test {};
TYPED_TEST_SUITE(source_close, source_kinds);

// Contract 22
TYPED_TEST(source_close, one_that_is_armed_does_not_fire_any_more) {
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, this->where_};
  source.arm();
  source.close();
  source.let_come_due();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran, 0);
}

// Contract 22
TYPED_TEST(source_close, a_queued_callback_does_not_run_any_more) {
  SKIP_UNDER_WINE("a timer or wait that is closed while its callback is queued still runs it");
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  source.close();
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran, 0);
}

// Contract 15
TYPED_TEST(source_close, one_whose_queued_callback_was_dropped_can_be_closed_while_the_pool_is_held) {
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  source.unset();
  source.cancel();
  source.close();
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran, 0);
}

// Contract 10 for timers and waits
TYPED_TEST(source_close, it_does_not_wait_for_a_callback_that_runs) {
  gate started;
  gate closed;
  std::atomic<bool> finished{false};
  TypeParam source{[&] {
                     started.open();
                     EXPECT_TRUE(closed.pass());
                     finished = true;
                   },
                   this->where_};
  source.fire();
  ASSERT_TRUE(started.pass());
  source.close();
  EXPECT_FALSE(finished);
  closed.open();
  drain_pool_of_one(this->where_);
  EXPECT_TRUE(finished);
}

// Contract 10 for timers and waits
TYPED_TEST(source_close, a_callback_can_close_its_own_object) {
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> ran{0};
    TypeParam* self = nullptr;
    TypeParam source{[&] {
                       self->close();
                       ++ran;
                     },
                     this->where_};
    self = &source;
    source.fire();
    EXPECT_TRUE(eventually([&] { return ran == 1; }));
    drain_pool_of_one(this->where_);
    EXPECT_EQ(ran, 1);
  }
}

// Contract 1
TYPED_TEST(source_close, objects_can_be_made_fired_and_closed_in_a_callback) {
  tally ran;
  work outer{[&] {
    TypeParam inner{[&] { ran.add(); }};
    inner.fire();
    EXPECT_TRUE(ran.reaches(1));
  }};
  outer.submit();
  outer.wait();
  EXPECT_EQ(ran.count(), 1u);
}

// Contract 1
TYPED_TEST(source_close, idle_objects_can_be_made_and_closed_in_any_number_and_order) {
  tally ran;
  for (int round = 0; round != 20; ++round) {
    std::vector<std::unique_ptr<TypeParam>> some;
    for (int i = 0; i != 10; ++i) {
      some.push_back(std::make_unique<TypeParam>([&] { ran.add(); }, this->where_));
    }
    for (std::size_t i = 1; i < some.size(); i += 2) {
      some[i].reset();
    }
    some[4]->fire();
    EXPECT_TRUE(ran.reaches(static_cast<unsigned>(round) + 1));
  }
  drain_pool_of_one(this->where_);
  EXPECT_EQ(ran.count(), 20u);
}

// Contract 22. Whatever the close meets: armed, queued, running, or finished.
TYPED_TEST(source_close, a_close_that_meets_the_firing_leaves_at_most_one_callback) {
  int ran_altogether = 0;
  for (int round = 0; round != 100; ++round) {
    std::atomic<int> ran{0};
    TypeParam source{[&] { ++ran; }, this->where_};
    source.fire();
    if (round % 4 == 0) {
      EXPECT_TRUE(eventually([&] { return ran == 1; }));
    } else {
      for (int i = 0; i != round % 8; ++i) {
        std::this_thread::yield();
      }
    }
    source.close();
    drain_pool_of_one(this->where_);
    ASSERT_LE(ran, 1);
    ran_altogether += ran;
  }
  EXPECT_GE(ran_altogether, 25);
}

// Contract 6
TYPED_TEST(source_close, an_armed_object_keeps_a_pool_that_was_closed_alive) {
  SKIP_UNDER_WINE("ntdll aborts when something fires after its pool was closed");
  pool mine{1};
  environment where{mine};
  tally ran;
  TypeParam source{[&] { ran.add(); }, where};
  source.arm();
  mine.close();
  source.let_come_due();
  EXPECT_TRUE(ran.reaches(1));
  source.fire();
  EXPECT_TRUE(ran.reaches(2));
}

// Contract 6
TYPED_TEST(source_close, an_object_can_be_closed_after_its_pool) {
  for (int round = 0; round != 20; ++round) {
    pool mine{1};
    environment where{mine};
    tally ran;
    TypeParam source{[&] { ran.add(); }, where};
    source.fire();
    EXPECT_TRUE(ran.reaches(1));
    source.wait_for_callbacks();
    mine.close();
    source.close();
    EXPECT_EQ(ran.count(), 1u);
  }
}

}  // namespace
