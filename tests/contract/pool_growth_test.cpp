// Callbacks that block do not stop the pool: it grows while queued callbacks make no progress.
#include <array>
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class pool_growth : public contract_test {};

constexpr unsigned blocked = 64;

// Contract 4
TEST_F(pool_growth, sixty_four_blocked_work_callbacks_let_the_sixty_fifth_run_on_the_default_pool) {
  gate last_ran;
  tally released;
  std::vector<std::unique_ptr<work>> blockers;
  for (unsigned i = 0; i != blocked; ++i) {
    blockers.push_back(std::make_unique<work>([&] {
      EXPECT_TRUE(last_ran.pass());
      released.add();
    }));
    blockers.back()->submit();
  }
  work last{[&] { last_ran.open(); }};
  last.submit();
  EXPECT_TRUE(released.reaches(blocked));
}

// Contract 4
TEST_F(pool_growth, sixty_four_blocked_one_off_callbacks_let_the_sixty_fifth_run_on_the_default_pool) {
  gate last_ran;
  tally finished;
  for (unsigned i = 0; i != blocked; ++i) {
    ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) {
      EXPECT_TRUE(last_ran.pass());
      finished.add();
    }));
  }
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) {
    last_ran.open();
    finished.add();
  }));
  EXPECT_TRUE(finished.reaches(blocked + 1));
}

// Contract 4, 7
TEST_F(pool_growth, the_submissions_of_a_single_object_can_all_block_until_the_last_one_runs) {
  SKIP_UNDER_WINE("a burst of submissions of one object runs on two threads at most");
  tally arrived;
  work everybody{[&] {
    arrived.add();
    EXPECT_TRUE(arrived.reaches(blocked + 1));
  }};
  everybody.submit(blocked + 1);
  EXPECT_TRUE(arrived.reaches(blocked + 1));
}

// Contract 4
TEST_F(pool_growth, callbacks_blocked_on_an_event_let_the_one_that_sets_it_run) {
  const pool private_pool;
  environment where{private_pool};
  const HANDLE event = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  ASSERT_NE(event, nullptr);
  const auto milliseconds = static_cast<DWORD>(std::chrono::milliseconds{patience}.count());
  std::atomic<unsigned> signalled{0};
  std::vector<std::unique_ptr<work>> blockers;
  for (unsigned i = 0; i != blocked; ++i) {
    blockers.push_back(std::make_unique<work>(
        [&] { signalled += WaitForSingleObject(event, milliseconds) == WAIT_OBJECT_0 ? 1 : 0; }, where));
    blockers.back()->submit();
  }
  {
    work setter{[&] { EXPECT_TRUE(SetEvent(event)); }, where};
    setter.submit();
  }
  blockers.clear();
  EXPECT_EQ(signalled, blocked);
  CloseHandle(event);
}

// Contract 4, 9
TEST_F(pool_growth, callbacks_that_wait_for_other_objects_callbacks_let_those_run) {
  // Each callback submits the next object and waits for it; the last one finds nothing left to do.
  constexpr std::size_t depth = 24;
  std::array<std::unique_ptr<work>, depth + 1> chain;
  std::atomic<std::size_t> deepest{0};
  for (std::size_t i = 0; i != depth; ++i) {
    chain[i] = std::make_unique<work>([&, i] {
      chain[i + 1]->submit();
      chain[i + 1]->wait();
      EXPECT_EQ(deepest, depth) << "the wait in callback " << i << " returned before the callback it waited for";
    });
  }
  chain[depth] = std::make_unique<work>([&] { deepest = depth; });
  chain[0]->submit();
  chain[0]->wait();
  EXPECT_EQ(deepest, depth);
}

// Contract 4
TEST_F(pool_growth, a_pool_that_has_grown_and_become_idle_grows_again) {
  const pool private_pool;
  environment where{private_pool};
  for (int round = 0; round != 5; ++round) {
    occupier busy{where, 16};
    ASSERT_TRUE(busy.held()) << "round " << round;
  }
}

}  // namespace
