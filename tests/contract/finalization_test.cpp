// The finalization callback of an environment.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class finalization : public contract_test {
 protected:
  struct state {
    journal order;
    std::atomic<PTP_CALLBACK_INSTANCE> instance{nullptr};
    std::atomic<bool> same_instance{false};
    tally finalized;
  };

  static void CALLBACK finalize(PTP_CALLBACK_INSTANCE instance, PVOID context) {
    auto& its = *static_cast<state*>(context);
    its.order.note('f');
    its.same_instance = instance != nullptr && instance == its.instance;
    its.finalized.add();
  }

  static void CALLBACK run_work(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK) {
    run_one_off(instance, context);
  }

  static void CALLBACK run_one_off(PTP_CALLBACK_INSTANCE instance, PVOID context) {
    auto& its = *static_cast<state*>(context);
    its.instance = instance;
    its.order.note('c');
  }

  const pool one_{1};
  environment where_{environment{one_}.finalization(&finalize)};
};

// Contract 36
TEST_F(finalization, it_runs_after_a_one_off_callback_with_its_instance_and_context) {
  state its;
  ASSERT_TRUE(TrySubmitThreadpoolCallback(&run_one_off, &its, where_));
  EXPECT_TRUE(its.finalized.reaches(1));
  EXPECT_EQ(its.order.text(), "cf");
  EXPECT_TRUE(its.same_instance);
}

// Contract 36
TEST_F(finalization, it_runs_after_a_work_callback_and_before_a_wait_for_it_ends) {
  for (int round = 0; round != 100; ++round) {
    state its;
    const PTP_WORK object = CreateThreadpoolWork(&run_work, &its, where_);
    ASSERT_NE(object, nullptr);
    SubmitThreadpoolWork(object);
    WaitForThreadpoolWorkCallbacks(object, FALSE);
    ASSERT_EQ(its.order.text(), "cf");
    EXPECT_TRUE(its.same_instance);
    CloseThreadpoolWork(object);
  }
}

// Contract 36
TEST_F(finalization, it_runs_before_the_release_of_a_group_ends) {
  for (int round = 0; round != 100; ++round) {
    const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
    environment member{where_};
    member.group(group);
    state its;
    ASSERT_TRUE(TrySubmitThreadpoolCallback(&run_one_off, &its, member));
    CloseThreadpoolCleanupGroupMembers(group, FALSE, nullptr);
    ASSERT_EQ(its.order.text(), "cf");
    CloseThreadpoolCleanupGroup(group);
  }
}

// Contract 36
TEST_F(finalization, it_runs_although_the_object_is_closed_while_its_callback_runs) {
  state its;
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK self) {
        run_one_off(instance, context);
        CloseThreadpoolWork(self);
      },
      &its, where_);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  EXPECT_TRUE(its.finalized.reaches(1));
  EXPECT_EQ(its.order.text(), "cf");
}

// Contract 36
TEST_F(finalization, it_can_run_while_the_callback_has_asked_for_an_event) {
  const HANDLE event = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  struct with_event : state {
    HANDLE event = nullptr;
  } its;
  its.event = event;
  ASSERT_TRUE(TrySubmitThreadpoolCallback(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context) {
        auto* const mine = static_cast<state*>(context);
        SetEventWhenCallbackReturns(instance, static_cast<with_event*>(mine)->event);
        run_one_off(instance, mine);
      },
      static_cast<state*>(&its), where_));
  const auto milliseconds = static_cast<DWORD>(std::chrono::milliseconds{patience}.count());
  EXPECT_EQ(WaitForSingleObject(event, milliseconds), DWORD{WAIT_OBJECT_0});
  EXPECT_TRUE(its.finalized.reaches(1));
  EXPECT_EQ(its.order.text(), "cf");
  drain_pool_of_one(where_.finalization(nullptr));
  CloseHandle(event);
}

// Contract 36
TEST_F(finalization, it_does_not_run_for_a_callback_that_was_dropped) {
  state its;
  environment plain{one_};
  occupier busy{plain, 1};
  ASSERT_TRUE(busy.held());
  const PTP_WORK object = CreateThreadpoolWork(&run_work, &its, where_);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  WaitForThreadpoolWorkCallbacks(object, TRUE);
  busy.release();
  drain_pool_of_one(plain);
  EXPECT_EQ(its.order.text(), "");
  SubmitThreadpoolWork(object);
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  EXPECT_EQ(its.order.text(), "cf");
  CloseThreadpoolWork(object);
}

}  // namespace
