// Errors are Win32 codes in the thread's last error.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class last_error : public contract_test {
 protected:
  /// Fails with ERROR_INVALID_PARAMETER.
  static void fail() {
    environment wrong;
    wrong->CallbackPriority = TP_CALLBACK_PRIORITY_INVALID;
    EXPECT_EQ(CreateThreadpoolWork([](PTP_CALLBACK_INSTANCE, PVOID, PTP_WORK) {}, nullptr, wrong), nullptr);
  }
};

// Contract 39
TEST_F(last_error, what_a_thread_sets_it_gets) {
  for (const DWORD code : {DWORD{ERROR_INVALID_PARAMETER}, DWORD{0x20000001}, DWORD{0xFFFFFFFF}, DWORD{0}}) {
    SetLastError(code);
    EXPECT_EQ(GetLastError(), code);
    EXPECT_EQ(GetLastError(), code);
  }
}

// Contract 39
TEST_F(last_error, a_new_thread_has_none) {
  SetLastError(1234);
  DWORD there = 99;
  std::thread other{[&] { there = GetLastError(); }};
  other.join();
  EXPECT_EQ(there, DWORD{ERROR_SUCCESS});
}

// Contract 39
TEST_F(last_error, a_failure_leaves_the_other_threads_errors_alone) {
  // Nothing but atomics in between: what starts and joins threads may well set the last error itself.
  std::atomic<bool> go{false};
  std::atomic<bool> done{false};
  DWORD there = 0;
  std::thread other{[&] {
    while (!go) {
      std::this_thread::yield();
    }
    fail();
    there = GetLastError();
    done = true;
  }};
  SetLastError(1234);
  go = true;
  while (!done) {
  }
  const DWORD here = GetLastError();
  other.join();
  EXPECT_EQ(there, DWORD{ERROR_INVALID_PARAMETER});
  EXPECT_EQ(here, 1234u);
}

// Contract 39
TEST_F(last_error, a_failure_in_a_callback_is_the_workers) {
  DWORD there = 0;
  work object{[&] {
    fail();
    there = GetLastError();
  }};
  SetLastError(1234);
  object.submit();
  object.wait();
  EXPECT_EQ(there, DWORD{ERROR_INVALID_PARAMETER});
  EXPECT_EQ(GetLastError(), 1234u);
}

// Contract 1, 39
TEST_F(last_error, submitting_and_waiting_leave_the_callers_last_error_alone) {
  work object{[] { SetLastError(4321); }};
  SetLastError(1234);
  object.submit(100);
  EXPECT_EQ(GetLastError(), 1234u);
  object.wait();
  EXPECT_EQ(GetLastError(), 1234u);
  object.cancel();
  EXPECT_EQ(GetLastError(), 1234u);
}

// Contract 3, 39
TEST_F(last_error, a_creation_after_a_failed_one_succeeds) {
  fail();
  tally ran;
  work object{[&] { ran.add(); }};
  object.submit();
  EXPECT_TRUE(ran.reaches(1));
}

}  // namespace
