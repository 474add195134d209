// What a callback can ask of its instance while it runs: that it may run long, and that nobody waits for it.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class callback_instance : public contract_test {};

// Contract 33
TEST_F(callback_instance, a_callback_may_not_run_long_in_a_pool_of_one) {
  const pool one{1};
  environment where{one};
  BOOL may = TRUE;
  DWORD error = ERROR_SUCCESS;
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                SetLastError(ERROR_SUCCESS);
                may = CallbackMayRunLong(instance);
                error = GetLastError();
              },
              where};
  object.submit();
  object.wait();
  EXPECT_FALSE(may);
  EXPECT_NE(error, DWORD{ERROR_SUCCESS});
}

// Contract 33
TEST_F(callback_instance, a_one_off_callback_may_not_run_long_in_a_pool_of_one) {
  const pool one{1};
  environment where{one};
  std::atomic<BOOL> may{TRUE};
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE instance) { may = CallbackMayRunLong(instance); }, where));
  drain_pool_of_one(where);
  EXPECT_FALSE(may);
}

// Contract 33
TEST_F(callback_instance, a_callback_may_not_run_long_when_all_threads_of_the_maximum_are_busy) {
  const pool three{3};
  environment where{three};
  occupier busy{where, 2};
  ASSERT_TRUE(busy.held());
  BOOL may = TRUE;
  work object{[&](PTP_CALLBACK_INSTANCE instance) { may = CallbackMayRunLong(instance); }, where};
  object.submit();
  object.wait();
  EXPECT_FALSE(may);
}

// Contract 33
TEST_F(callback_instance, a_callback_may_run_long_when_another_thread_can_be_had_and_others_go_on) {
  const pool two{2};
  environment where{two};
  gate asked;
  gate other_ran;
  BOOL may = FALSE;
  work long_running{[&](PTP_CALLBACK_INSTANCE instance) {
                      may = CallbackMayRunLong(instance);
                      asked.open();
                      EXPECT_TRUE(other_ran.pass());
                    },
                    where};
  long_running.submit();
  ASSERT_TRUE(asked.pass());
  EXPECT_TRUE(may);
  work other{[&] { other_ran.open(); }, where};
  other.submit();
  EXPECT_TRUE(other_ran.pass());
}

// Contract 33
TEST_F(callback_instance, a_callback_that_may_run_long_lets_run_what_was_queued_before_it_asked) {
  const pool two{2};
  environment where{two};
  gate queued;
  gate other_ran;
  BOOL may = FALSE;
  work long_running{[&](PTP_CALLBACK_INSTANCE instance) {
                      EXPECT_TRUE(queued.pass());
                      may = CallbackMayRunLong(instance);
                      EXPECT_TRUE(other_ran.pass());
                    },
                    where};
  long_running.submit();
  work other{[&] { other_ran.open(); }, where};
  other.submit();
  queued.open();
  long_running.wait();
  EXPECT_TRUE(may || other_ran.is_open());
}

// Contract 33
TEST_F(callback_instance, a_callback_may_run_long_on_the_default_pool) {
  BOOL may = FALSE;
  work object{[&](PTP_CALLBACK_INSTANCE instance) { may = CallbackMayRunLong(instance); }};
  object.submit();
  object.wait();
  EXPECT_TRUE(may);
}

// Contract 34
TEST_F(callback_instance, waiters_do_not_wait_for_a_callback_that_was_disassociated) {
  const pool two{2};
  environment where{two};
  gate disassociated;
  gate waited;
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                DisassociateCurrentThreadFromCallback(instance);
                disassociated.open();
                EXPECT_TRUE(waited.pass());
              },
              where};
  object.submit();
  ASSERT_TRUE(disassociated.pass());
  object.wait();
  object.cancel();
  waited.open();
  // The callback still uses this frame: when both threads are elsewhere it has returned.
  occupier both{where, 2};
  EXPECT_TRUE(both.held());
}

// Contract 34
TEST_F(callback_instance, disassociating_releases_a_thread_that_waits_already) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 20; ++round) {
    gate started;
    gate about_to_wait;
    gate waited;
    work object{[&](PTP_CALLBACK_INSTANCE instance) {
                  started.open();
                  EXPECT_TRUE(about_to_wait.pass());
                  std::this_thread::yield();
                  DisassociateCurrentThreadFromCallback(instance);
                  EXPECT_TRUE(waited.pass());
                },
                where};
    object.submit();
    ASSERT_TRUE(started.pass());
    about_to_wait.open();
    object.wait();
    waited.open();
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
  }
}

// Contract 34
TEST_F(callback_instance, a_wait_still_covers_the_other_callbacks_of_a_disassociated_ones_object) {
  const pool two{2, 2};
  environment where{two};
  gate disassociated;
  gate waited;
  std::atomic<int> calls{0};
  std::atomic<bool> other_finished{false};
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                if (calls++ == 0) {
                  DisassociateCurrentThreadFromCallback(instance);
                  disassociated.open();
                  EXPECT_TRUE(waited.pass());
                } else {
                  for (int i = 0; i != 100; ++i) {
                    std::this_thread::yield();
                  }
                  other_finished = true;
                }
              },
              where};
  object.submit();
  ASSERT_TRUE(disassociated.pass());
  object.submit();
  object.wait();
  EXPECT_TRUE(other_finished);
  waited.open();
  occupier both{where, 2};
  EXPECT_TRUE(both.held());
}

// Contract 34
TEST_F(callback_instance, a_disassociated_callback_can_wait_for_its_own_object_and_close_it) {
  // Without the disassociation it would wait for itself.
  gate finished;
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK self) {
        DisassociateCurrentThreadFromCallback(instance);
        WaitForThreadpoolWorkCallbacks(self, FALSE);
        CloseThreadpoolWork(self);
        static_cast<gate*>(context)->open();
      },
      &finished, nullptr);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  EXPECT_TRUE(finished.pass());
}

// Contract 34
TEST_F(callback_instance, an_object_can_be_closed_and_its_successor_made_while_a_disassociated_callback_runs) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 50; ++round) {
    gate disassociated;
    gate closed;
    work object{[&](PTP_CALLBACK_INSTANCE instance) {
                  DisassociateCurrentThreadFromCallback(instance);
                  disassociated.open();
                  EXPECT_TRUE(closed.pass());
                },
                where};
    object.submit();
    ASSERT_TRUE(disassociated.pass());
    object.wait();
    object.close();
    work successor{[] {}, where};
    successor.submit();
    successor.wait();
    closed.open();
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
  }
}

// Contract 29, 34
TEST_F(callback_instance, a_cleanup_group_still_waits_for_a_disassociated_callback) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 10; ++round) {
    const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
    environment member{two};
    gate disassociated;
    gate about_to_close;
    std::atomic<bool> finished{false};
    work object{[&](PTP_CALLBACK_INSTANCE instance) {
                  DisassociateCurrentThreadFromCallback(instance);
                  disassociated.open();
                  EXPECT_TRUE(about_to_close.pass());
                  for (int i = 0; i != 100; ++i) {
                    std::this_thread::yield();
                  }
                  finished = true;
                },
                member.group(group)};
    object.submit();
    ASSERT_TRUE(disassociated.pass());
    about_to_close.open();
    CloseThreadpoolCleanupGroupMembers(group, round % 2, nullptr);
    EXPECT_TRUE(finished);
    object.disown();
    CloseThreadpoolCleanupGroup(group);
    occupier both{where, 2};  // when the release did not wait, the callback still uses this frame
    ASSERT_TRUE(both.held());
  }
}

// Contract 34
TEST_F(callback_instance, a_one_off_callback_can_be_disassociated) {
  const pool one{1};
  environment where{one};
  std::atomic<int> ran{0};
  ASSERT_TRUE(submit_one_off(
      [&](PTP_CALLBACK_INSTANCE instance) {
        DisassociateCurrentThreadFromCallback(instance);
        ++ran;
      },
      where));
  drain_pool_of_one(where);
  EXPECT_EQ(ran, 1);
}

}  // namespace
