// Making and closing pools.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class pool_lifetime : public contract_test {};

// Contract 6
TEST_F(pool_lifetime, a_pool_that_never_had_a_callback_closes) {
  for (int i = 0; i != 50; ++i) {
    pool unused;
    unused.close();
  }
}

// Contract 6
TEST_F(pool_lifetime, a_pool_with_threads_of_its_minimum_closes) {
  for (DWORD i = 0; i != 20; ++i) {
    pool unused{500, i % 4};
    unused.close();
  }
}

// Contract 6
TEST_F(pool_lifetime, closing_a_pool_returns_while_a_callback_of_it_runs) {
  pool closing;
  environment where{closing};
  gate closed;
  gate started;
  bool was_closed = false;
  work running{[&] {
                 started.open();
                 was_closed = closed.pass();
               },
               where};
  running.submit();
  ASSERT_TRUE(started.pass());
  closing.close();
  closed.open();
  running.wait();
  EXPECT_TRUE(was_closed);
}

// Contract 6
TEST_F(pool_lifetime, what_was_queued_when_the_pool_was_closed_still_runs) {
  pool closing{1};
  environment where{closing};
  tally ran;
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  work queued{[&] { ran.add(); }, where};
  queued.submit(3);
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, where));
  closing.close();
  busy.release();
  EXPECT_TRUE(ran.reaches(4));
}

// Contract 6
TEST_F(pool_lifetime, an_object_of_a_closed_pool_can_be_submitted) {
  SKIP_UNDER_WINE("ntdll aborts when work is submitted after its pool was closed");
  pool closing{1};
  environment where{closing};
  tally ran;
  work survivor{[&] { ran.add(); }, where};
  closing.close();
  survivor.submit(100);
  survivor.wait();
  EXPECT_EQ(ran.count(), 100u);
  survivor.submit();
  survivor.wait();
  EXPECT_EQ(ran.count(), 101u);
}

// Contract 6
TEST_F(pool_lifetime, an_object_of_a_closed_pool_can_submit_itself_from_its_callback) {
  SKIP_UNDER_WINE("ntdll aborts when work is submitted after its pool was closed");
  pool closing;
  environment where{closing};
  tally ran;
  work* self = nullptr;
  work chain{[&] {
               ran.add();
               if (ran.count() < 100) {
                 self->submit();
               }
             },
             where};
  self = &chain;
  closing.close();
  chain.submit();
  EXPECT_TRUE(ran.reaches(100));
}

// Contract 6
TEST_F(pool_lifetime, an_idle_object_of_a_closed_pool_can_be_closed_later) {
  pool closing;
  environment where{closing};
  work last{[] {}, where};
  closing.close();
  last.close();
}

// Contract 6
TEST_F(pool_lifetime, a_pool_can_be_closed_in_a_callback_of_its_own) {
  const PTP_POOL mine = CreateThreadpool(nullptr);
  ASSERT_NE(mine, nullptr);
  environment where;
  SetThreadpoolCallbackPool(where, mine);
  gate closed;
  ASSERT_TRUE(submit_one_off(
      [&](PTP_CALLBACK_INSTANCE) {
        CloseThreadpool(mine);
        closed.open();
      },
      where));
  EXPECT_TRUE(closed.pass());
}

// Contract 6
TEST_F(pool_lifetime, one_off_callbacks_outlive_their_pool) {
  constexpr unsigned pools = 30;
  constexpr unsigned each = 10;
  tally ran;
  for (unsigned i = 0; i != pools; ++i) {
    pool brief;
    environment where{brief};
    for (unsigned j = 0; j != each; ++j) {
      ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, where));
    }
  }
  EXPECT_TRUE(ran.reaches(pools * each));
}

// Contract 6
TEST_F(pool_lifetime, a_pool_and_its_last_object_can_be_closed_while_the_callback_runs) {
  constexpr unsigned rounds = 50;
  tally ran;
  for (unsigned i = 0; i != rounds; ++i) {
    pool brief;
    environment where{brief};
    const PTP_WORK last = CreateThreadpoolWork(
        [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) { static_cast<tally*>(context)->add(); }, &ran, where);
    ASSERT_NE(last, nullptr);
    SubmitThreadpoolWork(last);
    brief.close();
    CloseThreadpoolWork(last);
  }
  EXPECT_TRUE(ran.reaches(rounds));
}

// Contract 6
TEST_F(pool_lifetime, pools_do_not_share_their_threads) {
  const pool occupied{1};
  const pool free{1};
  environment there{occupied};
  environment here{free};
  occupier busy{there, 1};
  ASSERT_TRUE(busy.held());
  gate ran;
  work elsewhere{[&] { ran.open(); }, here};
  elsewhere.submit();
  EXPECT_TRUE(ran.pass());
}

}  // namespace
