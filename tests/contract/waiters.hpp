// Threads that wait for an object whose callback is held.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "contract/gate.hpp"

namespace contract {

/// Four threads wait for `source`, by both forms, while its only callback stands at `may_return`; then that is let go,
/// and each finds that it has run.
template <class Source>
void let_waiters_find_it_over(Source& source, gate& may_return, const std::atomic<int>& ran) {
  tally waiting;
  std::vector<std::thread> waiters;
  for (int i = 0; i != 4; ++i) {
    waiters.emplace_back([&, i] {
      waiting.add();
      if (i % 2 == 0) {
        source.wait_for_callbacks();
      } else {
        source.cancel();
      }
      EXPECT_EQ(ran, 1);
    });
  }
  EXPECT_TRUE(waiting.reaches(4));
  may_return.open();
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
}

}  // namespace contract
