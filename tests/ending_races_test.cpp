// Two things happen to one object at the same time; every kind of object, every pair. docs/design/races.md has the list.
// What happens to its pool is in ending_pool_test.cpp, what happens when it is destroyed in ending_destructor_test.cpp.
#include <algorithm>

#include "ending_kinds.hpp"

namespace safe {
namespace {

template <class Kind>
class races : public ending_test<Kind> {
 protected:
  using typename ending_test<Kind>::object_type;

  /// Nothing runs any more.
  void expect_quiet() {
    const unsigned before = this->inside.count();
    let_due_times_come();
    let_another_pool_work();
    EXPECT_EQ(this->inside.count(), before);
    EXPECT_EQ(this->finished.count(), before);
  }

  /// Nothing runs any more, and the object is as good as new.
  void expect_quiet_and_startable(object_type& which) {
    expect_quiet();
    const unsigned before = this->finished.count();
    which->start();
    EXPECT_TRUE(this->finished.reaches(before + 1));
  }
};

TYPED_TEST_SUITE(races, ending_kinds, ending_names);

// ---- starting and … ------------------------------------------------------------------------------------

TYPED_TEST(races, of_starts_by_many_threads_lead_to_a_callback_after_the_last) {
  typename TestFixture::object_type object(this->goes_on());
  for (int round = 0; round != 20; ++round) {
    const unsigned before = this->finished.count();
    {
      std::vector<std::jthread> starters;
      for (int i = 0; i != 4; ++i) {
        starters.emplace_back([&] {
          for (int n = 0; n != 10; ++n) {
            object->start();
          }
        });
      }
    }
    EXPECT_TRUE(this->finished.reaches(before + 1));
    object->drain();
    if (TypeParam::every_start_counts) {
      EXPECT_EQ(this->finished.count(), before + 40);
    }
  }
  this->expect_quiet();
}

TYPED_TEST(races, of_a_start_and_a_running_callback_lead_to_another_callback) {
  typename TestFixture::object_type object(this->stays());
  object->start();
  ASSERT_TRUE(this->inside.reaches(1));
  object->start();
  EXPECT_TRUE(this->inside.reaches(2));  // it does not wait for the first
  EXPECT_EQ(this->finished.count(), 0u);
  this->let_go.open();
  object->drain();
  EXPECT_EQ(this->finished.count(), 2u);
}

TYPED_TEST(races, of_starts_and_callbacks_that_ask_for_more_lose_none) {
  constexpr unsigned each = 100;
  std::atomic<unsigned> asked = 0;
  typename TestFixture::object_type object([&](const again& once_more) {
    this->inside.add();
    if (asked.fetch_add(1) < each) {
      once_more();
    }
    this->finished.add();
  });
  {
    std::vector<std::jthread> starters;
    for (int i = 0; i != 3; ++i) {
      starters.emplace_back([&] {
        for (unsigned n = 0; n != each; ++n) {
          object->start();
        }
      });
    }
  }
  EXPECT_TRUE(this->finished.reaches(each + 1));  // whichever of them came last, it led to the next
  object->drain();
  if (TypeParam::every_start_counts) {
    EXPECT_EQ(this->finished.count(), 4 * each);
  }
  this->expect_quiet();
}

TYPED_TEST(races, of_starts_and_drains_end_with_the_starts) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  typename TestFixture::object_type object(this->goes_on());
  std::atomic<bool> stop = false;
  std::atomic<unsigned> started = 0;
  std::vector<std::jthread> starters;
  for (int i = 0; i != 2; ++i) {
    starters.emplace_back([&] {
      while (!stop) {
        object->start();
        ++started;
        std::this_thread::yield();
      }
    });
  }
  EXPECT_TRUE(this->finished.reaches(20));
  tally drains;
  std::vector<std::jthread> drainers;  // each of them as long as the starts, or shorter
  for (int i = 0; i != 2; ++i) {
    drainers.push_back(begin([&] {
      object->drain();
      drains.add();
    }));
  }
  EXPECT_TRUE(this->finished.reaches(this->finished.count() + 20));
  stop = true;
  starters.clear();
  EXPECT_TRUE(drains.reaches(2));
  object->drain();
  if (TypeParam::every_start_counts) {
    EXPECT_EQ(this->finished.count(), started);
  }
  this->expect_quiet_and_startable(object);
}

TYPED_TEST(races, of_starts_and_cancels_end_in_quiet) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  typename TestFixture::object_type object(this->goes_on());
  std::atomic<unsigned> started = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 2; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n != 300; ++n) {
          object->start();
          ++started;
        }
      });
      threads.emplace_back([&] {
        for (int n = 0; n != 100; ++n) {
          cancel_unless_under_wine(*object);
        }
      });
    }
  }
  object->cancel();
  EXPECT_LE(this->finished.count(), started);
  this->expect_quiet_and_startable(object);
}

// ---- a running callback and … --------------------------------------------------------------------------

TYPED_TEST(races, of_a_running_callback_and_a_drain_are_waited_for) {
  typename TestFixture::object_type object(this->stays());
  object->start();
  ASSERT_TRUE(this->inside.reaches(1));
  tally drained;
  const std::jthread drainer = begin([&] {
    object->drain();
    EXPECT_EQ(this->finished.count(), 1u);
    drained.add();
  });
  EXPECT_EQ(drained.count(), 0u);
  this->let_go.open();
  EXPECT_TRUE(drained.reaches(1));
}

TYPED_TEST(races, of_a_running_callback_and_several_drains_are_waited_for_by_each) {
  typename TestFixture::object_type object(this->stays());
  object->start();
  ASSERT_TRUE(this->inside.reaches(1));
  tally drained;
  std::vector<std::jthread> drainers;
  for (int i = 0; i != 4; ++i) {
    drainers.push_back(begin([&] {
      object->drain();
      EXPECT_EQ(this->finished.count(), 1u);
      drained.add();
    }));
  }
  EXPECT_EQ(drained.count(), 0u);
  this->let_go.open();
  EXPECT_TRUE(drained.reaches(4));
  drainers.clear();
  this->expect_quiet_and_startable(object);
}

TYPED_TEST(races, of_a_running_callback_and_a_cancel_are_waited_for) {
  typename TestFixture::object_type object(this->stays());
  object->start();
  ASSERT_TRUE(this->inside.reaches(1));
  tally cancelled;
  const std::jthread canceller = begin([&] {
    object->cancel();
    EXPECT_EQ(this->finished.count(), 1u);
    cancelled.add();
  });
  EXPECT_EQ(cancelled.count(), 0u);
  this->let_go.open();
  EXPECT_TRUE(cancelled.reaches(1));
  EXPECT_EQ(this->inside.count(), 1u);
}

// ---- a callback that asks for more and … ----------------------------------------------------------------

TYPED_TEST(races, of_a_callback_that_asks_for_more_and_drains_come_to_an_end) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  typename TestFixture::object_type object(this->goes_on());
  for (const int drains : {1, 3}) {
    for (int round = 0; round != 10; ++round) {
      this->more = true;
      object->start();
      EXPECT_TRUE(this->inside.reaches(this->inside.count() + 5));
      tally drained;
      std::vector<std::jthread> drainers;
      for (int i = 0; i != drains; ++i) {
        drainers.emplace_back([&] {
          object->drain();
          EXPECT_EQ(this->runs.inside(), 0u);
          drained.add();
        });
      }
      if (!TypeParam::drain_discards_again) {
        // It is the callback that has to stop; until then nothing is lost, and the drains wait.
        EXPECT_TRUE(this->inside.reaches(this->inside.count() + 5));
        EXPECT_EQ(drained.count(), 0u);
        this->more = false;
      }
      EXPECT_TRUE(drained.reaches(static_cast<unsigned>(drains)));
    }
  }
  this->more = false;
  this->expect_quiet_and_startable(object);
}

TYPED_TEST(races, of_a_callback_that_asks_for_more_and_cancels_come_to_an_end) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  if (std::is_same_v<TypeParam, ending_timer> || std::is_same_v<TypeParam, ending_periodic_timer>) {
    SKIP_UNDER_WINE("waiting for the callbacks of a timer that is set meanwhile, and dropping them, may not end");
  }
  typename TestFixture::object_type object(this->goes_on());
  for (int round = 0; round != 50; ++round) {
    this->more = true;
    object->start();
    EXPECT_TRUE(this->inside.reaches(this->inside.count() + 3));
    tally cancelled;
    const std::jthread canceller([&] {
      object->cancel();
      cancelled.add();
    });
    // Cancelling is not ending: it may drop what the callback has asked for, or be followed by it, and waits then.
    EXPECT_TRUE(eventually(
        [&, before = this->inside.count()] { return cancelled.count() != 0 || this->inside.count() >= before + 3; }));
    this->more = false;
    EXPECT_TRUE(cancelled.reaches(1));
    object->drain();
    EXPECT_EQ(this->runs.inside(), 0u);
  }
  this->expect_quiet_and_startable(object);
}

// ---- drains and cancels --------------------------------------------------------------------------------

TYPED_TEST(races, of_drains_and_cancels_by_many_threads_end_in_quiet) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  typename TestFixture::object_type object(this->goes_on());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 100; ++n) {
          object->start();
          switch ((n + i) % 3) {
            case 0: object->drain(); break;
            case 1: cancel_unless_under_wine(*object); break;
            default: break;
          }
        }
      });
    }
  }
  object->drain();
  this->expect_quiet_and_startable(object);
}

TYPED_TEST(races, of_a_cancel_and_a_queued_callback_drop_it_or_run_it_and_nobody_waits_for_it_later) {
  const private_pool pool(1);
  typename TestFixture::object_type object(this->goes_on(), pool.environment);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  object->start();
  let_due_times_come();
  tally cancelled;
  std::vector<std::jthread> cancellers;
  for (int i = 0; i != 2; ++i) {
    cancellers.push_back(begin([&] {
      cancel_unless_under_wine(*object);
      cancelled.add();
    }));
  }
  // A wait's activation and an io's handler can not be dropped.
  const bool drops = std::is_same_v<TypeParam, ending_work> || std::is_same_v<TypeParam, ending_timer> ||
                     std::is_same_v<TypeParam, ending_periodic_timer>;
  if (drops && !contract::under_wine()) {
    EXPECT_TRUE(cancelled.reaches(2));
  } else {
    EXPECT_EQ(cancelled.count(), 0u);
  }
  EXPECT_EQ(this->finished.count(), 0u);
  only_thread.release();
  EXPECT_TRUE(cancelled.reaches(2));
  let_pool_of_one_finish(pool);
  EXPECT_EQ(this->finished.count(), drops && !contract::under_wine() ? 0u : 1u);
}

}  // namespace
}  // namespace safe
