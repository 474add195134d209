// Closing work objects: it returns at once, and what is outstanding still runs.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class work_close : public contract_test {};

// Contract 10
TEST_F(work_close, closing_returns_while_a_callback_runs) {
  gate closed;
  gate started;
  tally finished;
  struct shared {
    gate& started;
    gate& closed;
    tally& finished;
  } gates{started, closed, finished};
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) {
        const auto& mine = *static_cast<shared*>(context);
        mine.started.open();
        EXPECT_TRUE(mine.closed.pass());
        mine.finished.add();
      },
      &gates, nullptr);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  ASSERT_TRUE(started.pass());
  CloseThreadpoolWork(object);
  closed.open();
  EXPECT_TRUE(finished.reaches(1));
}

// Contract 10
TEST_F(work_close, submissions_that_are_queued_when_the_object_is_closed_still_run) {
  const pool one{1};
  environment where{one};
  tally ran;
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) { static_cast<tally*>(context)->add(); }, &ran, where);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  SubmitThreadpoolWork(object);
  SubmitThreadpoolWork(object);
  CloseThreadpoolWork(object);
  EXPECT_EQ(ran.count(), 0u);
  busy.release();
  drain_pool_of_one(where);
  EXPECT_EQ(ran.count(), 3u);
}

// Contract 10
TEST_F(work_close, a_callback_can_close_its_own_object_while_more_of_its_submissions_are_queued) {
  const pool one{1};
  environment where{one};
  struct state {
    tally ran;
    std::atomic<bool> closed{false};
  } mine;
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK self) {
        auto& its = *static_cast<state*>(context);
        if (!its.closed.exchange(true)) {
          CloseThreadpoolWork(self);
        }
        its.ran.add();
      },
      &mine, where);
  ASSERT_NE(object, nullptr);
  {
    occupier busy{where, 1};
    ASSERT_TRUE(busy.held());
    for (int i = 0; i != 5; ++i) {
      SubmitThreadpoolWork(object);
    }
  }
  EXPECT_TRUE(mine.ran.reaches(5));
  drain_pool_of_one(where);
  EXPECT_EQ(mine.ran.count(), 5u);
}

// Contract 10
TEST_F(work_close, an_idle_object_closes_right_after_its_callbacks_were_waited_for) {
  for (int i = 0; i != 500; ++i) {
    int ran = 0;
    work object{[&] { ++ran; }};
    object.submit();
    object.wait();
    object.close();
    ASSERT_EQ(ran, 1);
  }
}

}  // namespace
