// WaitForThreadpoolWorkCallbacks(work, TRUE): what has not started is dropped, what has is waited for.
#include <atomic>

#include "contract/blocked_call.hpp"

namespace {

using namespace contract;

class work_cancel : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};

// Contract 9
TEST_F(work_cancel, submissions_that_have_not_started_are_dropped) {
  std::atomic<int> ran{0};
  work queued{[&] { ++ran; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  queued.submit(10);
  queued.cancel();
  busy.release();
  drain_pool_of_one(where_);
  EXPECT_EQ(ran, 0);
}

// Contract 9
TEST_F(work_cancel, it_returns_although_the_thread_that_would_have_run_them_stays_held) {
  work queued{[] {}, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  queued.submit();
  queued.cancel();  // would not return if it waited for the dropped one
  queued.wait();    // nor would this
  busy.release();
}

// Contract 8, 9
TEST_F(work_cancel, exactly_those_not_started_are_dropped_and_the_running_one_is_waited_for) {
  // The one thread is in the first callback of `object`; `blocker`, of high priority, takes the thread next.
  // As long as `blocker` holds it, cancel() can only return by dropping the rest.
  gate started;
  gate may_finish;
  std::atomic<int> begun{0};
  std::atomic<int> finished{0};
  work object{[&] {
                if (begun++ == 0) {
                  started.open();
                  EXPECT_TRUE(may_finish.pass());
                }
                ++finished;
              },
              where_};
  object.submit();
  ASSERT_TRUE(started.pass());

  gate release_blocker;
  environment urgent{one_};
  urgent.priority(TP_CALLBACK_PRIORITY_HIGH);
  work blocker{[&] { EXPECT_TRUE(release_blocker.pass()); }, urgent};
  blocker.submit();
  object.submit(10);

  blocked_call cancel([&] {
    object.cancel();
    EXPECT_EQ(finished, 1) << "the running callback was not waited for";
  });
  EXPECT_TRUE(cancel.blocks());
  may_finish.open();
  EXPECT_TRUE(cancel.returns());
  release_blocker.open();
  cancel.join();
  drain_pool_of_one(where_);
  EXPECT_EQ(begun, 1) << "a submission that had not started was not dropped";
}

// Contract 8, 9
TEST_F(work_cancel, submissions_that_a_thread_may_have_taken_all_at_once_are_dropped) {
  // As above, but the submissions were there before the one that runs was begun.
  for (int round = 0; round != 5; ++round) {
    gate started;
    gate may_finish;
    std::atomic<int> begun{0};
    work object{[&] {
                  if (begun++ == 0) {
                    started.open();
                    EXPECT_TRUE(may_finish.pass());
                  }
                },
                where_};
    occupier busy{where_, 1};
    ASSERT_TRUE(busy.held());
    object.submit(11);
    busy.release();
    ASSERT_TRUE(started.pass());

    gate release_blocker;
    environment urgent{one_};
    urgent.priority(TP_CALLBACK_PRIORITY_HIGH);
    work blocker{[&] { EXPECT_TRUE(release_blocker.pass()); }, urgent};
    blocker.submit();

    blocked_call cancel([&] { object.cancel(); });
    EXPECT_TRUE(cancel.blocks());
    may_finish.open();
    EXPECT_TRUE(cancel.returns());
    release_blocker.open();
    cancel.join();
    drain_pool_of_one(where_);
    EXPECT_EQ(begun, 1) << "a submission that had not started was not dropped";
  }
}

// Contract 9
TEST_F(work_cancel, what_is_submitted_after_a_drop_runs_and_nothing_else_does) {
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> ran{0};
    work object{[&] { ++ran; }, where_};
    occupier busy{where_, 1};
    ASSERT_TRUE(busy.held());
    object.submit(5);
    object.cancel();
    object.submit(3);
    busy.release();
    object.wait();
    EXPECT_EQ(ran, 3);
    drain_pool_of_one(where_);
    EXPECT_EQ(ran, 3);
  }
}

// Contract 9
TEST_F(work_cancel, drops_and_submissions_can_alternate_while_the_pool_is_busy) {
  std::atomic<int> ran{0};
  work object{[&] { ++ran; }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  for (unsigned i = 0; i != 50; ++i) {
    object.submit(1 + i % 3);
    object.cancel();
    object.cancel();
  }
  object.submit(2);
  busy.release();
  object.wait();
  drain_pool_of_one(where_);
  EXPECT_EQ(ran, 2);
}

// Contract 8, 9
TEST_F(work_cancel, what_is_submitted_after_a_drop_goes_to_the_end_of_the_queue) {
  journal order;
  work dropped{[&] { order.note('a'); }, where_};
  work other{[&] { order.note('b'); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  dropped.submit();
  other.submit();
  dropped.cancel();
  dropped.submit();
  busy.release();
  dropped.wait();
  other.wait();
  EXPECT_EQ(order.text(), "ba");
}

// Contract 9
TEST_F(work_cancel, a_drop_leaves_the_submissions_of_other_objects_alone) {
  journal order;
  work first{[&] { order.note('a'); }, where_};
  work dropped{[&] { order.note('x'); }, where_};
  work last{[&] { order.note('b'); }, where_};
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  first.submit();
  dropped.submit(3);
  last.submit();
  dropped.cancel();
  busy.release();
  first.wait();
  last.wait();
  EXPECT_EQ(order.text(), "ab");
}

// Contract 9
TEST_F(work_cancel, a_callback_can_drop_the_submissions_of_another_object) {
  std::atomic<int> ran{0};
  work queued{[&] { ++ran; }, where_};
  work dropper{[&] {
                 queued.submit(4);  // on a pool of one they stay queued while this callback runs
                 queued.cancel();
               },
               where_};
  dropper.submit();
  dropper.wait();
  drain_pool_of_one(where_);
  EXPECT_EQ(ran, 0);
}

// Contract 9
TEST_F(work_cancel, a_drop_releases_another_thread_that_waits_for_what_is_dropped) {
  SKIP_UNDER_WINE("dropping the last submission does not wake another waiter");
  for (int round = 0; round != 50; ++round) {
    work queued{[] {}, where_};
    occupier busy{where_, 1};
    ASSERT_TRUE(busy.held());
    queued.submit(2);
    gate about_to_wait;
    gate released;
    std::thread waiter{[&] {
      about_to_wait.open();
      queued.wait();
      released.open();
    }};
    EXPECT_TRUE(about_to_wait.pass());
    std::this_thread::yield();
    queued.cancel();
    EXPECT_TRUE(released.pass());
    busy.release();
    waiter.join();
  }
}

// Contract 9, 10
TEST_F(work_cancel, an_object_can_be_closed_right_after_a_drop) {
  for (int round = 0; round != 50; ++round) {
    std::atomic<int> ran{0};
    occupier busy{where_, 1};
    ASSERT_TRUE(busy.held());
    work object{[&] { ++ran; }, where_};
    object.submit(3);
    object.cancel();
    object.close();
    busy.release();
    drain_pool_of_one(where_);
    ASSERT_EQ(ran, 0);
  }
}

// Contract 9
TEST_F(work_cancel, several_threads_can_drop_at_once) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 50; ++round) {
    gate started;
    gate may_finish;
    std::atomic<int> finished{0};
    work object{[&] {
                  started.open();
                  EXPECT_TRUE(may_finish.pass());
                  ++finished;
                },
                where};
    object.submit();
    ASSERT_TRUE(started.pass());
    tally about_to_cancel;
    std::vector<std::thread> cancellers;
    for (int i = 0; i != 3; ++i) {
      cancellers.emplace_back([&] {
        about_to_cancel.add();
        object.cancel();
        EXPECT_EQ(finished, 1);
      });
    }
    EXPECT_TRUE(about_to_cancel.reaches(3));
    may_finish.open();
    for (std::thread& canceller : cancellers) {
      canceller.join();
    }
  }
}

}  // namespace
