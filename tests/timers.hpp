// What the tests of timers and waits share.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "contract/sources.hpp"
#include "safe.hpp"

namespace safe {

/// Returns when a timer that was set after everything else, and for later, has fired on another pool: what was due
/// before has been queued by then.
inline void let_due_times_come() {
  using namespace std::chrono_literals;
  const private_pool other(1);
  for (int i = 0; i != 2; ++i) {
    tally fired;
    timer later([&] { fired.add(); }, other.environment);
    later.set_after(20ms);
    EXPECT_TRUE(fired.reaches(1));
  }
}

/// Runs `end` on a thread of its own, and returns when that is asleep where it has to wait, or over. On Windows, where
/// nothing tells, when it has begun and had time to get there.
template <class End>
[[nodiscard]] std::jthread begin(End end) {
  struct progress {
    std::atomic<contract::thread_number> thread = 0;
    std::atomic<bool> over = false;
  };
  const auto its = std::make_shared<progress>();
  std::jthread thread([its, end = std::move(end)]() mutable {
    its->thread = this_thread();
    end();
    its->over = true;
  });
#ifdef _WIN32
  EXPECT_TRUE(eventually([&] { return its->thread != 0; }));
  let_another_pool_work();
  let_another_pool_work();
#else
  std::optional<std::string> before;
  EXPECT_TRUE(eventually([&] {
    const std::optional<std::string> sleeps = contract::sleeps_of(its->thread);
    const bool stays_asleep = sleeps && sleeps == before;  // since the last look
    before = sleeps;
    return its->over || stays_asleep;
  }));
#endif
  return thread;
}

/// Returns when everything that was queued in a pool of one thread has run and returned.
inline void let_pool_of_one_finish(const private_pool& pool) {
  work last([] {}, pool.with(tidepool::priority::low));
  last.submit();
}

}  // namespace safe
