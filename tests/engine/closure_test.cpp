// TidepoolTrySubmitClosure: what the safe layer needs of it is tested there; this is the rest.
#include <tidepool/win32/tpextensions.h>

#include <array>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class closure_submission : public contract_test {
 protected:
  static void CALLBACK count(PTP_CALLBACK_INSTANCE, PVOID context) {
    const ULONGLONG word = *static_cast<const ULONGLONG*>(context);
    reinterpret_cast<tally*>(word)->add();
  }

  std::array<ULONGLONG, TIDEPOOL_MOST_CLOSURE_WORDS + 1> words() { return {reinterpret_cast<ULONGLONG>(&ran_)}; }

  tally ran_;
  const pool one_{1};
  environment where_{one_};
};

TEST_F(closure_submission, takes_one_to_four_words) {
  const auto words = this->words();
  for (DWORD number = 1; number <= TIDEPOOL_MOST_CLOSURE_WORDS; ++number) {
    EXPECT_TRUE(TidepoolTrySubmitClosure(&count, words.data(), number, where_));
  }
  EXPECT_TRUE(ran_.reaches(TIDEPOOL_MOST_CLOSURE_WORDS));
}

TEST_F(closure_submission, refuses_other_numbers_of_words_and_no_callback) {
  const auto words = this->words();
  const auto refused = [&](PTP_SIMPLE_CALLBACK callback, DWORD number) {
    SetLastError(ERROR_SUCCESS);
    EXPECT_FALSE(TidepoolTrySubmitClosure(callback, words.data(), number, where_));
    EXPECT_EQ(GetLastError(), DWORD{ERROR_INVALID_PARAMETER});
  };
  refused(&count, 0);
  refused(&count, TIDEPOOL_MOST_CLOSURE_WORDS + 1);
  refused(nullptr, 1);
  drain_pool_of_one(where_);
  EXPECT_EQ(ran_.count(), 0u);
}

TEST_F(closure_submission, says_when_the_environment_asks_for_more) {
  const auto words = this->words();
  SetThreadpoolCallbackRunsLong(where_);
  EXPECT_FALSE(TidepoolTrySubmitClosure(&count, words.data(), 1, where_));
  EXPECT_EQ(GetLastError(), DWORD{ERROR_NOT_SUPPORTED});
  drain_pool_of_one(where_);
  EXPECT_EQ(ran_.count(), 0u);
}

}  // namespace
