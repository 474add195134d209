// The pool object goes while something else happens to an object that was made on it. Environments and objects share the
// ownership of the pool, so each order works.
#include "ending_kinds.hpp"

namespace safe {
namespace {

/// A pool with its environment, which can go.
using mortal_pool = std::optional<private_pool>;

template <class Kind>
class races_with_the_pool : public ending_test<Kind> {};

template <class Kind>
class races_with_the_pool_destructor : public races_with_the_pool<Kind> {};

TYPED_TEST_SUITE(races_with_the_pool, ending_kinds, ending_names);
TYPED_TEST_SUITE(races_with_the_pool_destructor, ending_kinds, ending_names);

TYPED_TEST(races_with_the_pool, leave_it_to_the_object_that_is_started_afterwards) {
  mortal_pool pool(std::in_place, 2);
  typename TestFixture::object_type object(this->goes_on(), pool->environment);
  pool.reset();
  for (unsigned round = 1; round <= 20; ++round) {
    object->start();
    EXPECT_TRUE(this->finished.reaches(round));
    object->drain();
    object->cancel();
  }
}

TYPED_TEST(races_with_the_pool, leave_it_to_starts_by_others) {
  for (int round = 0; round != 30; ++round) {
    mortal_pool pool(std::in_place, 2);
    std::atomic<bool> gone = false;
    tally before;
    tally after;
    typename TestFixture::object_type object([&](const again&) { (gone ? after : before).add(); }, pool->environment);
    {
      const std::jthread starter([&] {
        while (!gone) {
          object->start();
          std::this_thread::yield();
        }
        object->start();  // the last one comes when the pool object has gone
      });
      EXPECT_TRUE(before.reaches(3));
      pool.reset();
      gone = true;
    }
    EXPECT_TRUE(after.reaches(1));
  }
}

TYPED_TEST(races_with_the_pool, leave_it_to_a_queued_callback) {
  mortal_pool pool(std::in_place, 1);
  typename TestFixture::object_type object(this->goes_on(), pool->environment);
  occupier only_thread(pool->environment);
  ASSERT_TRUE(only_thread.held());
  object->start();
  let_due_times_come();
  pool.reset();
  EXPECT_EQ(this->finished.count(), 0u);
  only_thread.release();
  EXPECT_TRUE(this->finished.reaches(1));
}

TYPED_TEST(races_with_the_pool, leave_it_to_a_running_callback) {
  mortal_pool pool(std::in_place, 2);
  typename TestFixture::object_type object(this->stays(), pool->environment);
  object->start();
  ASSERT_TRUE(this->inside.reaches(1));
  pool.reset();  // does not wait
  EXPECT_EQ(this->finished.count(), 0u);
  this->let_go.open();
  EXPECT_TRUE(this->finished.reaches(1));
}

TYPED_TEST(races_with_the_pool, leave_it_to_a_callback_that_asks_for_more) {
  for (int round = 0; round != 30; ++round) {
    mortal_pool pool(std::in_place, 2);
    typename TestFixture::object_type object(this->goes_on(), pool->environment);
    this->more = true;
    object->start();
    EXPECT_TRUE(this->finished.reaches(this->finished.count() + 2));
    pool.reset();
    EXPECT_TRUE(this->finished.reaches(this->finished.count() + 5));
    this->more = false;
    object->drain();
  }
}

TYPED_TEST(races_with_the_pool, leave_it_to_drains_that_are_waiting) {
  mortal_pool pool(std::in_place, 2);
  typename TestFixture::object_type object(this->stays(), pool->environment);
  object->start();
  ASSERT_TRUE(this->inside.reaches(1));
  tally ended;
  std::vector<std::jthread> threads;
  for (int i = 0; i != 2; ++i) {
    threads.push_back(begin([&, i] {
      if (i == 0) {
        object->drain();
      } else {
        cancel_unless_under_wine(*object);
      }
      EXPECT_EQ(this->finished.count(), 1u);
      ended.add();
    }));
  }
  pool.reset();
  EXPECT_EQ(ended.count(), 0u);
  this->let_go.open();
  EXPECT_TRUE(ended.reaches(2));
}

TYPED_TEST(races_with_the_pool, leave_it_to_a_callback_that_is_the_last_to_know_it) {
  // The callback's own state has the environment, and lets go of it: the object is what keeps the pool then.
  for (int round = 0; round != 30; ++round) {
    auto pool = std::make_shared<mortal_pool>(std::in_place, 2);
    typename TestFixture::object_type object(
        [&, pool](const again&) {
          pool->reset();
          this->finished.add();
        },
        (*pool)->environment);
    pool.reset();
    const unsigned before = this->finished.count();
    object->start();
    EXPECT_TRUE(this->finished.reaches(before + 1));
    object->start();
    EXPECT_TRUE(this->finished.reaches(before + 2));
  }
}

// ---- destructors ---------------------------------------------------------------------------------------

TYPED_TEST(races_with_the_pool_destructor, runs_what_is_queued_when_the_pool_object_has_gone) {
  mortal_pool pool(std::in_place, 1);
  std::optional<typename TypeParam::object> object(std::in_place, this->goes_on(), pool->environment);
  occupier only_thread(pool->environment);
  ASSERT_TRUE(only_thread.held());
  object->start();
  let_due_times_come();
  pool.reset();
  tally destroyed;
  const std::jthread destroyer = begin([&] {
    object.reset();
    EXPECT_EQ(this->finished.count(), 1u);
    destroyed.add();
  });
  EXPECT_EQ(destroyed.count(), 0u);
  only_thread.release();
  EXPECT_TRUE(destroyed.reaches(1));
}

TYPED_TEST(races_with_the_pool_destructor, meets_that_of_the_pool_object) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  std::atomic<int> alive = 0;
  for (int round = 0; round != 100; ++round) {
    mortal_pool pool(std::in_place, 2);
    std::optional<typename TypeParam::object> object(
        std::in_place,
        [&, state = std::make_shared<counted>(alive)](const again& once_more) {
          EXPECT_GE(*state->alive, 1);
          this->finished.add();
          if (this->more) {
            once_more();
          }
        },
        pool->environment);
    // A work runs for as long as its callback asks for more.
    this->more = !std::is_same_v<TypeParam, ending_work>;
    object->start();
    {
      const std::jthread other([&] { pool.reset(); });
      object.reset();
    }
    EXPECT_EQ(alive, 0);
  }
}

TYPED_TEST(races_with_the_pool_destructor, may_be_called_by_the_last_callback_of_that_pool) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  for (int round = 0; round != 50; ++round) {
    mortal_pool pool(std::in_place, 2);
    auto object = std::make_shared<std::optional<typename TypeParam::object>>();
    object->emplace([&](const again&) { this->finished.add(); }, pool->environment);
    const tidepool::event over(tidepool::reset_mode::manual);
    (*object)->start();
    tidepool::submit(
        [object, over](tidepool::callback_instance& instance) {
          instance.set_event_when_returns(over);
          object->reset();
        },
        pool->environment);
    pool.reset();
    object.reset();
    ASSERT_TRUE(over.wait_for(patience));
  }
}

}  // namespace
}  // namespace safe
