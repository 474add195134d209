// Callback environments: their layout, what creation makes of them, and what it refuses.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

// Contract 2. The numbers are those of 64-bit Windows, written down here a second time.
static_assert(sizeof(TP_CALLBACK_ENVIRON) == 72);
static_assert(offsetof(TP_CALLBACK_ENVIRON, Version) == 0);
static_assert(offsetof(TP_CALLBACK_ENVIRON, Pool) == 8);
static_assert(offsetof(TP_CALLBACK_ENVIRON, CleanupGroup) == 16);
static_assert(offsetof(TP_CALLBACK_ENVIRON, CleanupGroupCancelCallback) == 24);
static_assert(offsetof(TP_CALLBACK_ENVIRON, RaceDll) == 32);
static_assert(offsetof(TP_CALLBACK_ENVIRON, ActivationContext) == 40);
static_assert(offsetof(TP_CALLBACK_ENVIRON, FinalizationCallback) == 48);
static_assert(offsetof(TP_CALLBACK_ENVIRON, u) == 56);
static_assert(offsetof(TP_CALLBACK_ENVIRON, CallbackPriority) == 60);
static_assert(offsetof(TP_CALLBACK_ENVIRON, Size) == 64);
static_assert(TP_CALLBACK_PRIORITY_HIGH == 0 && TP_CALLBACK_PRIORITY_NORMAL == 1 && TP_CALLBACK_PRIORITY_LOW == 2);

/// The size of the environment of version 1, which ends before the priority.
constexpr std::size_t version_1_size = 60;

class callback_environment : public contract_test {
 protected:
  /// That neither a work object nor a one-off callback can be made in the environment, and that nothing runs.
  void expect_refused(environment refused) {
    SetLastError(ERROR_SUCCESS);
    const PTP_WORK object = CreateThreadpoolWork([](PTP_CALLBACK_INSTANCE, PVOID, PTP_WORK) {}, nullptr, refused);
    EXPECT_EQ(object, nullptr);
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_PARAMETER});
    if (object != nullptr) {
      CloseThreadpoolWork(object);
    }
    SetLastError(ERROR_SUCCESS);
    EXPECT_FALSE(submit_one_off([this](PTP_CALLBACK_INSTANCE) { ++refused_ran_; }, refused));
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_PARAMETER});
  }

  std::atomic<int> refused_ran_{0};
};

// Contract 2
TEST_F(callback_environment, an_initialised_environment_holds_the_documented_defaults) {
  TP_CALLBACK_ENVIRON fresh;
  std::memset(&fresh, 0xAB, sizeof fresh);
  InitializeThreadpoolEnvironment(&fresh);
  EXPECT_EQ(fresh.Version, 3u);
  EXPECT_EQ(fresh.Pool, nullptr);
  EXPECT_EQ(fresh.CleanupGroup, nullptr);
  EXPECT_EQ(fresh.CleanupGroupCancelCallback, nullptr);
  EXPECT_EQ(fresh.RaceDll, nullptr);
  EXPECT_EQ(fresh.ActivationContext, nullptr);
  EXPECT_EQ(fresh.FinalizationCallback, nullptr);
  EXPECT_EQ(fresh.u.Flags, 0u);
  EXPECT_EQ(fresh.CallbackPriority, TP_CALLBACK_PRIORITY_NORMAL);
  EXPECT_EQ(fresh.Size, 72u);
  DestroyThreadpoolEnvironment(&fresh);
}

// Contract 2
TEST_F(callback_environment, every_setter_changes_its_field) {
  const pool somewhere;
  const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
  const PTP_CLEANUP_GROUP_CANCEL_CALLBACK on_cancel = [](PVOID, PVOID) {};
  int module = 0;
  TP_CALLBACK_ENVIRON set;
  InitializeThreadpoolEnvironment(&set);
  SetThreadpoolCallbackPool(&set, somewhere.get());
  SetThreadpoolCallbackCleanupGroup(&set, group, on_cancel);
  SetThreadpoolCallbackLibrary(&set, &module);
  SetThreadpoolCallbackPriority(&set, TP_CALLBACK_PRIORITY_LOW);
  EXPECT_EQ(set.Pool, somewhere.get());
  EXPECT_EQ(set.CleanupGroup, group);
  EXPECT_EQ(set.CleanupGroupCancelCallback, on_cancel);
  EXPECT_EQ(set.RaceDll, &module);
  EXPECT_EQ(set.CallbackPriority, TP_CALLBACK_PRIORITY_LOW);
  EXPECT_EQ(set.u.Flags, 0u);
  SetThreadpoolCallbackRunsLong(&set);
  EXPECT_EQ(set.u.Flags, 1u);
  EXPECT_EQ(set.u.s.LongFunction, 1u);
  set.u.s.Persistent = 1;
  EXPECT_EQ(set.u.Flags, 3u);
  CloseThreadpoolCleanupGroup(group);
}

// Contract 2
TEST_F(callback_environment, a_null_environment_means_the_default_pool) {
  tally ran;
  work object{[&] { ran.add(); }, nullptr};
  object.submit();
  EXPECT_TRUE(ran.reaches(1));
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, nullptr));
  EXPECT_TRUE(ran.reaches(2));
}

// Contract 2
TEST_F(callback_environment, an_environment_without_a_pool_means_the_default_pool) {
  environment plain;
  tally ran;
  work object{[&] { ran.add(); }, plain};
  object.submit();
  EXPECT_TRUE(ran.reaches(1));
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, plain));
  EXPECT_TRUE(ran.reaches(2));
}

// Contract 2
TEST_F(callback_environment, the_environment_is_read_at_creation_only) {
  const pool first{1};
  const pool second{1};
  environment changing{first};
  occupier busy{changing, 1};
  ASSERT_TRUE(busy.held());

  std::atomic<int> ran{0};
  work early{[&] { ++ran; }, changing};
  SetThreadpoolCallbackPool(changing, second.get());
  // Were it on the second pool by now, it would run before what is submitted to that pool after it.
  early.submit();
  drain_pool_of_one(changing);
  EXPECT_EQ(ran, 0);

  busy.release();
  early.wait();
  EXPECT_EQ(ran, 1);
}

// Contract 2
TEST_F(callback_environment, the_environment_may_be_gone_before_the_first_submission) {
  const pool where;
  tally ran;
  auto temporary = std::make_unique<environment>(where);
  work object{[&] { ran.add(); }, *temporary};
  std::memset(static_cast<void*>(static_cast<PTP_CALLBACK_ENVIRON>(*temporary)), 0xAB, sizeof(TP_CALLBACK_ENVIRON));
  temporary.reset();
  object.submit(3);
  object.wait();
  EXPECT_EQ(ran.count(), 3u);
}

// Contract 2
TEST_F(callback_environment, creation_does_not_change_the_environment) {
  const pool where;
  environment used{where};
  used.priority(TP_CALLBACK_PRIORITY_HIGH);
  const environment before = used;
  work object{[] {}, used};
  tally ran;
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, used));
  EXPECT_EQ(std::memcmp(&before, &used, offsetof(TP_CALLBACK_ENVIRON, Size) + sizeof(DWORD)), 0);
  EXPECT_TRUE(ran.reaches(1));
}

// Contract 3
TEST_F(callback_environment, a_priority_outside_high_normal_and_low_is_an_invalid_parameter) {
  const pool one{1};
  for (const int priority : {3, 4, 255, 0x7FFFFFFF, -1}) {
    SCOPED_TRACE(priority);
    environment wrong{one};
    std::memcpy(&wrong->CallbackPriority, &priority, sizeof priority);
    expect_refused(wrong);
  }
  environment right{one};
  drain_pool_of_one(right);
  EXPECT_EQ(refused_ran_, 0);
}

// Contract 3
TEST_F(callback_environment, an_invalid_priority_is_refused_on_the_default_pool_too) {
  environment wrong;
  wrong->CallbackPriority = TP_CALLBACK_PRIORITY_INVALID;
  expect_refused(wrong);
}

// Contract 3
TEST_F(callback_environment, an_unknown_version_is_an_invalid_parameter) {
  SKIP_UNDER_WINE("environment versions are not checked");
  const pool one{1};
  for (const TP_VERSION version : {0u, 2u, 4u, 0x10003u, 0xFFFFFFFFu}) {
    for (const DWORD size : {0u, 64u, 72u, 4096u}) {
      SCOPED_TRACE(testing::Message() << "version " << version << ", size " << size);
      environment wrong{one};
      wrong->Version = version;
      wrong->Size = size;
      expect_refused(wrong);
    }
  }
  environment right{one};
  drain_pool_of_one(right);
  EXPECT_EQ(refused_ran_, 0);
}

// Contract 3
TEST_F(callback_environment, version_1_has_no_priority_to_be_refused_and_nothing_behind_its_end_is_read) {
  const pool one{1};
  environment full{one};
  full->Version = 1;
  const int nonsense = 99;
  std::memcpy(&full->CallbackPriority, &nonsense, sizeof nonsense);
  full->Size = 0;
  // A block of just its size, so that an address sanitizer sees what is read behind it.
  const std::unique_ptr<void, decltype(&std::free)> small{std::malloc(version_1_size), &std::free};
  std::memcpy(small.get(), static_cast<PTP_CALLBACK_ENVIRON>(full), version_1_size);
  const auto version_1 = static_cast<PTP_CALLBACK_ENVIRON>(small.get());

  tally ran;
  work object{[&] { ran.add(); }, version_1};
  object.submit();
  object.wait();
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, version_1));
  EXPECT_TRUE(ran.reaches(2));
}

// Contract 3, 30
TEST_F(callback_environment, a_creation_that_failed_leaves_no_member_in_the_group) {
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

// Contract 2
TEST_F(callback_environment, the_runs_long_and_persistent_flags_change_no_result) {
  const pool where{2};
  for (const DWORD flags : {1u, 2u, 3u}) {
    environment flagged{where};
    flagged->u.Flags = flags;
    tally ran;
    work object{[&] { ran.add(); }, flagged};
    object.submit(50);
    object.wait();
    EXPECT_EQ(ran.count(), 50u);
    ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }, flagged));
    EXPECT_TRUE(ran.reaches(51));
  }
}

// Contract 2
TEST_F(callback_environment, a_callback_that_runs_long_leaves_room_for_others) {
  const pool where{2};
  environment runs_long{where};
  SetThreadpoolCallbackRunsLong(runs_long);
  occupier busy{runs_long, 1};
  ASSERT_TRUE(busy.held());
  gate ran;
  environment plain{where};
  work other{[&] { ran.open(); }, plain};
  other.submit();
  EXPECT_TRUE(ran.pass());
}

TEST_F(callback_environment, callbacks_that_run_long_leave_the_processors_concurrency_to_others) {
  // They use the processor, so that they are not taken for blocked: without the flag a pool would let them go on by
  // themselves, and add threads slowly at best.
  constexpr unsigned number = 100;
  const pool where;
  environment runs_long{where};
  SetThreadpoolCallbackRunsLong(runs_long);
  tally running;
  std::vector<std::unique_ptr<work>> busy;
  for (unsigned i = 0; i != number; ++i) {
    busy.push_back(std::make_unique<work>(
        [&] {
          running.add();
          const auto deadline = std::chrono::steady_clock::now() + patience;
          while (running.count() != number && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
          }
        },
        runs_long));
    busy.back()->submit();
  }
  EXPECT_TRUE(running.reaches(number));
}

}  // namespace
