// Callback environments of timers, waits and I/O objects: pool, priority, flags, library, finalization callback, and what is refused.
#include <atomic>
#include <cstring>

#include "contract/io_source.hpp"
#include "contract/spare_library.hpp"

namespace {

using namespace contract;

/// Expects that neither kind can be made with `wrong`.
void expect_refused(PTP_CALLBACK_ENVIRON wrong) {
  constexpr auto never_timer = [](PTP_CALLBACK_INSTANCE, PVOID, PTP_TIMER) {};
  constexpr auto never_wait = [](PTP_CALLBACK_INSTANCE, PVOID, PTP_WAIT, TP_WAIT_RESULT) {};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolTimer(never_timer, nullptr, wrong));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolWait(never_wait, nullptr, wrong));
}

class source_creation : public contract_test {};

// Contract 3
TEST_F(source_creation, a_priority_outside_high_normal_and_low_is_an_invalid_parameter) {
  for (const int priority : {3, 255, -1}) {
    SCOPED_TRACE(priority);
    environment wrong;
    std::memcpy(&wrong->CallbackPriority, &priority, sizeof priority);
    expect_refused(wrong);
  }
}

// Contract 3
TEST_F(source_creation, an_unknown_environment_version_is_an_invalid_parameter) {
  SKIP_UNDER_WINE("environment versions are not checked");
  for (const TP_VERSION version : {0u, 2u, 4u, 0xFFFFFFFFu}) {
    SCOPED_TRACE(version);
    environment wrong;
    wrong->Version = version;
    expect_refused(wrong);
  }
}

// Contract 3, 30
TEST_F(source_creation, a_creation_that_failed_leaves_no_member_in_the_group) {
  const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
  static std::atomic<int> cancelled;
  cancelled = 0;
  environment wrong;
  wrong.group(group, [](PVOID, PVOID) { ++cancelled; });
  wrong->CallbackPriority = TP_CALLBACK_PRIORITY_INVALID;
  expect_refused(wrong);
  CloseThreadpoolCleanupGroupMembers(group, TRUE, nullptr);
  EXPECT_EQ(cancelled, 0);
  CloseThreadpoolCleanupGroup(group);
}

template <class Source>
class source_environment : public source_test {};
TYPED_TEST_SUITE(source_environment, source_kinds_and_io);

// Contract 2
TYPED_TEST(source_environment, a_callback_runs_on_a_thread_of_its_own_pool) {
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  let_another_pool_work();
  EXPECT_EQ(ran, 0);
  busy.release();
  source.wait_for_callbacks();
  EXPECT_EQ(ran, 1);
}

// Contract 2
TYPED_TEST(source_environment, it_is_read_at_creation_only) {
  const pool other{1};
  environment used{this->one_};
  std::atomic<int> ran{0};
  TypeParam source{[&] { ++ran; }, used};
  SetThreadpoolCallbackPool(used, other.get());
  used->Version = 99;
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  EXPECT_EQ(ran, 0) << "it ran on the pool that was put in later";
  busy.release();
  source.wait_for_callbacks();
  EXPECT_EQ(ran, 1);
}

// Contract 8
TYPED_TEST(source_environment, of_queued_callbacks_those_of_higher_priority_run_first) {
  journal order;
  environment low{this->one_};
  environment high{this->one_};
  low.priority(TP_CALLBACK_PRIORITY_LOW);
  high.priority(TP_CALLBACK_PRIORITY_HIGH);
  TypeParam last{[&] { order.note('l'); }, low};
  TypeParam middle{[&] { order.note('n'); }, this->where_};
  TypeParam first{[&] { order.note('h'); }, high};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  last.fire();
  middle.fire();
  first.fire();
  TypeParam::let_fired_be_queued();
  busy.release();
  last.wait_for_callbacks();
  middle.wait_for_callbacks();
  first.wait_for_callbacks();
  EXPECT_EQ(order.text(), "hnl");
}

// Contract 8
TYPED_TEST(source_environment, callbacks_of_one_priority_run_in_the_order_in_which_they_were_queued) {
  journal order;
  TypeParam first{[&] { order.note('a'); }, this->where_};
  work second{[&] { order.note('b'); }, this->where_};
  TypeParam third{[&] { order.note('c'); }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  first.fire();
  TypeParam::let_fired_be_queued();
  second.submit();
  third.fire();
  TypeParam::let_fired_be_queued();
  busy.release();
  first.wait_for_callbacks();
  second.wait();
  third.wait_for_callbacks();
  EXPECT_EQ(order.text(), "abc");
}

// Contract 2
TYPED_TEST(source_environment, the_runs_long_and_persistent_flags_change_no_result) {
  for (const DWORD flags : {1u, 2u, 3u}) {
    environment flagged{this->one_};
    flagged->u.Flags = flags;
    tally ran;
    TypeParam source{[&] { ran.add(); }, flagged};
    for (unsigned i = 1; i != 4; ++i) {
      source.fire();
      EXPECT_TRUE(ran.reaches(i));
    }
    source.wait_for_callbacks();
    EXPECT_EQ(ran.count(), 3u);
  }
}

// Contract 2
TYPED_TEST(source_environment, a_callback_that_runs_long_leaves_room_for_others) {
  const pool two{2};
  environment runs_long{two};
  SetThreadpoolCallbackRunsLong(runs_long);
  gate ran;
  gate started;
  TypeParam busy{[&] {
                   started.open();
                   EXPECT_TRUE(ran.pass());
                 },
                 runs_long};
  busy.fire();
  ASSERT_TRUE(started.pass());
  environment plain{two};
  TypeParam other{[&] { ran.open(); }, plain};
  other.fire();
  EXPECT_TRUE(ran.pass());
}

// Contract 35, 2
TYPED_TEST(source_environment, its_library_stays_loaded_while_a_callback_runs) {
  ASSERT_FALSE(is_loaded(spare_library));
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  environment with_library{this->one_};
  SetThreadpoolCallbackLibrary(with_library, module);
  gate started;
  gate may_return;
  TypeParam source{[&] {
                     started.open();
                     EXPECT_TRUE(may_return.pass());
                   },
                   with_library};
  source.fire();
  ASSERT_TRUE(started.pass());
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_TRUE(is_loaded(spare_library));
  source.close();
  EXPECT_TRUE(is_loaded(spare_library));
  may_return.open();
  EXPECT_TRUE(eventually([] { return !is_loaded(spare_library); }));
  drain_pool_of_one(this->where_);  // the callback has returned, which the library does not show to everybody
}

// ---- the finalization callback ---------------------------------------------------------------------

template <class Source>
class source_finalization : public source_test {
 protected:
  struct observed {
    journal order;
    std::atomic<PTP_CALLBACK_INSTANCE> instance{nullptr};
    std::atomic<bool> same_instance{false};
    tally finalized;
  };

  /// The owner's context is the owner itself, and does not lead to more.
  static observed*& current() {
    static observed* its = nullptr;
    return its;
  }

  static void CALLBACK finalize(PTP_CALLBACK_INSTANCE instance, PVOID) {
    observed& its = *current();
    its.order.note('f');
    its.same_instance = instance != nullptr && instance == its.instance;
    its.finalized.add();
  }

  source_finalization() { current() = &its_; }

  observed its_;
  environment finalizing_{environment{this->one_}.finalization(&finalize)};
};
TYPED_TEST_SUITE(source_finalization, source_kinds_and_io);

// Contract 36
TYPED_TEST(source_finalization, it_runs_after_each_callback_and_before_a_wait_for_it_ends) {
  TypeParam source{[this](PTP_CALLBACK_INSTANCE instance) {
                     this->its_.instance = instance;
                     this->its_.order.note('c');
                   },
                   this->finalizing_};
  std::string expected;
  for (unsigned round = 1; round != 50; ++round) {
    source.fire();
    ASSERT_TRUE(this->its_.finalized.reaches(round));
    source.wait_for_callbacks();
    expected += "cf";
    ASSERT_EQ(this->its_.order.text(), expected);
    EXPECT_TRUE(this->its_.same_instance);
  }
}

// Contract 36
TYPED_TEST(source_finalization, a_wait_for_the_callback_covers_it) {
  gate started;
  gate about_to_wait;
  TypeParam source{[&] {
                     started.open();
                     EXPECT_TRUE(about_to_wait.pass());
                     this->its_.order.note('c');
                   },
                   this->finalizing_};
  source.fire();
  ASSERT_TRUE(started.pass());
  about_to_wait.open();
  source.wait_for_callbacks();
  EXPECT_EQ(this->its_.order.text(), "cf");
}

// Contract 36
TYPED_TEST(source_finalization, it_runs_although_the_object_is_closed_while_its_callback_runs) {
  TypeParam* self = nullptr;
  TypeParam source{[&] {
                     self->close();
                     this->its_.order.note('c');
                   },
                   this->finalizing_};
  self = &source;
  source.fire();
  EXPECT_TRUE(this->its_.finalized.reaches(1));
  EXPECT_EQ(this->its_.order.text(), "cf");
  drain_pool_of_one(this->where_);
}

// Contract 36
TYPED_TEST(source_finalization, it_does_not_run_for_a_callback_that_was_dropped) {
  TypeParam source{[this] { this->its_.order.note('c'); }, this->finalizing_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  source.fire();
  source.let_fired_be_queued();
  source.cancel();
  busy.release();
  drain_pool_of_one(this->where_);
  EXPECT_EQ(this->its_.order.text(), "");
  source.fire();
  EXPECT_TRUE(this->its_.finalized.reaches(1));
  EXPECT_EQ(this->its_.order.text(), "cf");
}

}  // namespace
