// The stack sizes of a pool's threads.
#ifndef _WIN32
#include <pthread.h>
#endif

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class stack_information : public contract_test {
 protected:
  static TP_POOL_STACK_INFORMATION of(const pool& where) {
    TP_POOL_STACK_INFORMATION information{};
    EXPECT_TRUE(QueryThreadpoolStackInformation(where.get(), &information));
    return information;
  }

  static void round_trip(SIZE_T reserve, SIZE_T commit) {
    const pool where;
    TP_POOL_STACK_INFORMATION information{};
    information.StackReserve = reserve;
    information.StackCommit = commit;
    ASSERT_TRUE(SetThreadpoolStackInformation(where.get(), &information));
    EXPECT_EQ(information.StackReserve, reserve);
    EXPECT_EQ(information.StackCommit, commit);
    EXPECT_EQ(of(where).StackReserve, reserve);
    EXPECT_EQ(of(where).StackCommit, commit);
  }
};

// Contract 5
TEST_F(stack_information, the_default_is_a_usable_stack) {
  const pool fresh;
  const TP_POOL_STACK_INFORMATION information = of(fresh);
  EXPECT_GE(information.StackReserve, SIZE_T{64} * 1024);
  EXPECT_GT(information.StackCommit, 0u);
  EXPECT_LE(information.StackCommit, information.StackReserve);
}

// Contract 5
TEST_F(stack_information, every_pool_starts_with_the_same_default) {
  const pool changed;
  TP_POOL_STACK_INFORMATION information = of(changed);
  const TP_POOL_STACK_INFORMATION original = information;
  information.StackReserve += 1 << 20;
  ASSERT_TRUE(SetThreadpoolStackInformation(changed.get(), &information));

  const pool fresh;
  EXPECT_EQ(of(fresh).StackReserve, original.StackReserve);
  EXPECT_EQ(of(fresh).StackCommit, original.StackCommit);
}

// Contract 5
TEST_F(stack_information, what_is_set_is_handed_back) { round_trip(SIZE_T{1} << 20, SIZE_T{1} << 16); }

// Contract 5
TEST_F(stack_information, what_is_set_is_handed_back_unchecked) {
  round_trip(1, 7);
  round_trip(0x12345, 0x54321);
  round_trip(~SIZE_T{0}, ~SIZE_T{0});
}

// Contract 5
TEST_F(stack_information, a_reserve_too_small_to_run_on_still_runs_callbacks) {
  const pool small;
  TP_POOL_STACK_INFORMATION information{};
  information.StackReserve = 1;
  information.StackCommit = 1;
  ASSERT_TRUE(SetThreadpoolStackInformation(small.get(), &information));
  environment where{small};
  gate ran;
  work job{[&] { ran.open(); }, where};
  job.submit();
  EXPECT_TRUE(ran.pass());
}

/// The size of this thread's stack.
SIZE_T stack_size() {
#ifdef _WIN32
  ULONG_PTR low = 0;
  ULONG_PTR high = 0;
  GetCurrentThreadStackLimits(&low, &high);
  return high - low;
#else
  pthread_attr_t attributes;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  }
  return size;
#endif
}

/// Recurses until frames of `depth` pages are on the stack. Ends the process when it has no room for them.
[[gnu::noinline]] unsigned use_stack(unsigned depth) {
  volatile unsigned char frame[4096] = {};
  frame[depth % sizeof frame] = 1;
  const unsigned deeper = depth == 0 ? 0 : use_stack(depth - 1);
  return deeper + frame[depth % sizeof frame];  // used after the call: no tail call
}

// Contract 5
TEST_F(stack_information, a_reserve_of_64_megabytes_gives_callbacks_that_much_stack) {
  SKIP_UNDER_WINE("stack sizes are stored, not applied");
  const pool roomy;
  TP_POOL_STACK_INFORMATION information{};
  information.StackReserve = SIZE_T{64} << 20;
  information.StackCommit = 4096;
  ASSERT_TRUE(SetThreadpoolStackInformation(roomy.get(), &information));
  environment where{roomy};
  gate ran;
  work job{[&] {
             constexpr unsigned pages = (48u << 20) / 4096;
             EXPECT_GE(stack_size(), information.StackReserve);
             if (!HasFailure()) {
               EXPECT_EQ(use_stack(pages), pages + 1);
             }
             ran.open();
           },
           where};
  job.submit();
  EXPECT_TRUE(ran.pass());
}

}  // namespace
