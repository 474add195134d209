// Critical sections.
#include <thread>

#include "contract/objects.hpp"

namespace contract {
namespace {

class critical_sections : public contract_test {
 protected:
  critical_sections() { InitializeCriticalSection(&section_); }
  ~critical_sections() override { DeleteCriticalSection(&section_); }

  bool can_be_entered_elsewhere() {
    bool entered = false;
    std::thread{[&] {
      entered = TryEnterCriticalSection(&section_) != FALSE;
      if (entered) {
        LeaveCriticalSection(&section_);
      }
    }}.join();
    return entered;
  }

  CRITICAL_SECTION section_;
};

TEST_F(critical_sections, hold_one_thread_at_a_time) {
  EXPECT_TRUE(can_be_entered_elsewhere());
  EnterCriticalSection(&section_);
  EXPECT_FALSE(can_be_entered_elsewhere());
  LeaveCriticalSection(&section_);
  EXPECT_TRUE(can_be_entered_elsewhere());
}

TEST_F(critical_sections, are_left_as_often_as_they_were_entered) {
  EnterCriticalSection(&section_);
  EnterCriticalSection(&section_);
  EXPECT_TRUE(TryEnterCriticalSection(&section_));
  LeaveCriticalSection(&section_);
  LeaveCriticalSection(&section_);
  EXPECT_FALSE(can_be_entered_elsewhere());
  LeaveCriticalSection(&section_);
  EXPECT_TRUE(can_be_entered_elsewhere());
}

TEST_F(critical_sections, keep_their_owner_when_another_thread_tries_in_vain) {
  EXPECT_TRUE(TryEnterCriticalSection(&section_));
  EXPECT_FALSE(can_be_entered_elsewhere());
  EXPECT_TRUE(TryEnterCriticalSection(&section_));
  LeaveCriticalSection(&section_);
  LeaveCriticalSection(&section_);
}

TEST_F(critical_sections, let_a_waiting_thread_in_when_the_owner_leaves) {
  EnterCriticalSection(&section_);
  gate begun;
  gate entered;
  std::thread other{[&] {
    begun.open();
    EnterCriticalSection(&section_);
    entered.open();
    LeaveCriticalSection(&section_);
  }};
  EXPECT_TRUE(begun.pass());
  EXPECT_FALSE(entered.is_open());
  LeaveCriticalSection(&section_);
  EXPECT_TRUE(entered.pass());
  other.join();
}

#ifndef _WIN32
TEST_F(critical_sections, let_all_sleeping_threads_in_one_after_the_other) {
  // On Windows too, but there a test can not know that a thread sleeps at a critical section.
  EnterCriticalSection(&section_);
  crowd inside;
  waiters threads{4, [&] {
                    EnterCriticalSection(&section_);
                    inside.enter();
                    inside.leave();
                    LeaveCriticalSection(&section_);
                    return DWORD{0};
                  }};
  ASSERT_TRUE(threads.asleep());
  EXPECT_EQ(threads.returned_so_far(), 0u);
  LeaveCriticalSection(&section_);
  EXPECT_TRUE(threads.returned(4));
  EXPECT_EQ(inside.peak(), 1u);
}

TEST_F(critical_sections, can_be_deleted_by_the_last_thread_inside) {
  for (int round = 0; round != repetitions; ++round) {
    auto* const section = new CRITICAL_SECTION;
    InitializeCriticalSection(section);
    bool first_is_gone = false;  // guarded by the section
    together(2, [&](unsigned) {
      EnterCriticalSection(section);
      const bool last = first_is_gone;
      first_is_gone = true;
      LeaveCriticalSection(section);
      if (last) {
        // The other thread may not have returned from LeaveCriticalSection yet.
        DeleteCriticalSection(section);
        delete section;
      }
    });
  }
}
#endif

TEST_F(critical_sections, keep_what_they_guard_to_one_thread) {
  for (const DWORD spin_count : {0u, 1000u}) {
    CRITICAL_SECTION section;
    ASSERT_TRUE(InitializeCriticalSectionAndSpinCount(&section, spin_count));
    int rounds = 0;  // guarded by the section
    together(4, [&](unsigned) {
      for (int round = 0; round != 2000; ++round) {
        EnterCriticalSection(&section);
        if (round % 3 == 0) {
          ASSERT_TRUE(TryEnterCriticalSection(&section));
          LeaveCriticalSection(&section);
        }
        ++rounds;
        LeaveCriticalSection(&section);
      }
    });
    EXPECT_EQ(rounds, 8000);
    DeleteCriticalSection(&section);
  }
}

TEST_F(critical_sections, take_a_spin_count_and_hand_it_back) {
  CRITICAL_SECTION section;
  ASSERT_TRUE(InitializeCriticalSectionAndSpinCount(&section, 1234));
  EXPECT_EQ(SetCriticalSectionSpinCount(&section, 7), 1234u);
  EXPECT_EQ(SetCriticalSectionSpinCount(&section, 0), 7u);
  DeleteCriticalSection(&section);
  ASSERT_TRUE(InitializeCriticalSectionEx(&section, 99, 0));
  EXPECT_EQ(SetCriticalSectionSpinCount(&section, 0), 99u);
  DeleteCriticalSection(&section);
}

TEST_F(critical_sections, have_the_size_they_have_on_64_bit_windows) {
  EXPECT_EQ(sizeof(CRITICAL_SECTION), 40u);
  EXPECT_EQ(alignof(CRITICAL_SECTION), 8u);
}

}  // namespace
}  // namespace contract
