// What the tests of the safe layer share.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>
#include <utility>
#include <vector>

#include "contract/fixtures.hpp"
#include "contract/gate.hpp"
#include "contract/threads.hpp"
#include "contract/watchdog.hpp"
#include "owing_nothing.hpp"

namespace safe {

using contract::crowd;
using contract::eventually;
using contract::gate;
using contract::journal;
using contract::live_threads;
using contract::patience;
using contract::survivors;
using contract::tally;
using contract::this_thread;

/// For a test about a destructor that finds a drain owed.
#ifdef TIDEPOOL_FAIL_FAST
#define SKIP_WHEN_FAILING_FAST() GTEST_SKIP() << "a destructor that finds a drain owed ends the process"
#else
#define SKIP_WHEN_FAILING_FAST() static_assert(true, "requires a semicolon")
#endif

class safe_test : public testing::Test {
 private:
  contract::watchdog watchdog_;
};

/// A pool with a maximum, and an environment that leads there.
struct private_pool {
  explicit private_pool(std::uint32_t maximum, std::uint32_t minimum = 0) {
    pool.set_max_threads(maximum);
    if (minimum != 0) {
      pool.set_min_threads(minimum);
    }
    environment.set_pool(pool);
  }

  [[nodiscard]] tidepool::callback_environment with(tidepool::priority priority) const {
    tidepool::callback_environment changed = environment;
    changed.set_priority(priority);
    return changed;
  }

  tidepool::pool pool;
  tidepool::callback_environment environment;
};

/// Holds threads, each in a callback of its own, until it is released.
class occupier {
 public:
  explicit occupier(const tidepool::callback_environment& where, unsigned threads = 1) : threads_(threads) {
    for (unsigned i = 0; i != threads; ++i) {
      holders_.emplace_back(
          [this] {
            inside_.add();
            EXPECT_TRUE(release_.pass());
          },
          where);
      holders_.back().submit();
    }
  }

  ~occupier() { release(); }
  occupier(const occupier&) = delete;
  occupier& operator=(const occupier&) = delete;

  /// Waits until every thread is really inside its callback.
  [[nodiscard]] bool held() { return inside_.reaches(threads_); }

  void release() {
    release_.open();
    holders_.clear();
  }

 private:
  unsigned threads_;
  tally inside_;
  gate release_;
  std::vector<work> holders_;
};

/// Shows that a working pool would have had time: runs callbacks on another pool that each need a thread at once.
/// What has not happened when it returns was not merely late.
inline void let_another_pool_work(unsigned threads = 4) {
  const private_pool other(threads);
  occupier visitors(other.environment, threads);
  EXPECT_TRUE(visitors.held());
}

/// Evaluates to whether `statement` throws a std::system_error that compares equal to `expected`.
#define EXPECT_SYSTEM_ERROR(statement, expected)       \
  try {                                                \
    statement;                                         \
    ADD_FAILURE() << #statement " does not throw";     \
  } catch (const std::system_error& error) {           \
    EXPECT_EQ(error.code(), expected) << error.what(); \
  }                                                    \
  static_assert(true, "requires a semicolon")

/// How many of them there are, by counting.
struct counted {
  explicit counted(std::atomic<int>& of) : alive(&of) { ++*alive; }
  counted(const counted& other) : alive(other.alive) { ++*alive; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*alive; }

  std::atomic<int>* alive;
};

/// Calls a function when it is destroyed, unless it has been moved from.
template <class F>
class on_destruction {
 public:
  explicit on_destruction(F call) : call_(std::move(call)) {}
  on_destruction(on_destruction&& other) : call_(std::move(other.call_)), armed_(std::exchange(other.armed_, false)) {}
  on_destruction& operator=(on_destruction&&) = delete;
  ~on_destruction() {
    if (armed_) {
      call_();
    }
  }

 private:
  F call_;
  bool armed_ = true;
};

}  // namespace safe
