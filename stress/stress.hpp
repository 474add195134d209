// What the stress scenarios share. They run only when TIDEPOOL_STRESS is set; TIDEPOOL_STRESS_SCALE (1 by default, any
// positive number) scales how much each does. A scenario asserts only what holds under any load, and that it did
// something: a floor on what it counted.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <tidepool/tidepool.hpp>
#include <utility>
#include <vector>

#include "contract/gate.hpp"
#include "owing_nothing.hpp"

namespace stress {

using namespace std::chrono_literals;
using contract::crowd;
using contract::tally;
using safe::io;
using safe::periodic_timer;
using safe::timer;
using safe::wait;
using safe::work;

inline double scale() {
  const char* const text = std::getenv("TIDEPOOL_STRESS_SCALE");
  const double value = text != nullptr ? std::strtod(text, nullptr) : 1.0;
  return value > 0 ? value : 1.0;
}

/// So many at scale 1, and never none.
inline int scaled(int number) { return std::max(1, static_cast<int>(number * scale())); }

/// How often to go round: so many times, and on until the scenario has shown something, or patience is over. A floor that
/// small scales and busy machines reach too.
class rounds {
 public:
  explicit rounds(int least) : least_(scaled(least)) {}

  template <class Shown>
  [[nodiscard]] bool go_on(Shown shown) {
    return done_++ < least_ || (!shown() && std::chrono::steady_clock::now() < end_);
  }

 private:
  const int least_;
  int done_ = 0;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + contract::patience;
};

class scenario : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("TIDEPOOL_STRESS") == nullptr) {
      GTEST_SKIP() << "set TIDEPOOL_STRESS to run the stress scenarios";
    }
  }
};

/// Runs `body(index)` on so many threads at once.
template <class Body>
void on_threads(unsigned number, Body body) {
  std::vector<std::jthread> threads;
  for (unsigned index = 0; index != number; ++index) {
    threads.emplace_back([index, &body] { body(index); });
  }
}

/// A pool of its own with room for `threads`.
struct private_pool {
  explicit private_pool(unsigned threads) {
    pool.set_max_threads(threads);
    environment.set_pool(pool);
  }
  tidepool::pool pool;
  tidepool::callback_environment environment;
};

inline std::chrono::microseconds random_time(std::minstd_rand& random, unsigned most) {
  return std::chrono::microseconds{random() % (most + 1)};
}

/// Keeps the processor busy for a while.
inline void spin_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace stress
