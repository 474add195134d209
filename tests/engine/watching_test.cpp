// The worker that watches over busy ones, and what it must not miss.
#include <tidepool/win32/tpextensions.h>

#include <atomic>
#include <chrono>
#include <random>

#include "contract/fixtures.hpp"
#include "engine/worker.hpp"

namespace {

using namespace contract;
using namespace std::chrono_literals;

class watching : public contract_test {};

TEST_F(watching, misses_nothing_that_comes_as_it_ends) {
  // One thread computes for good. The other watches for some milliseconds after each callback, and then goes to sleep: for
  // good too, if nobody calls it. Each arrival is aimed at that moment: the next comes later when it was still watching, else
  // earlier.
  const pool two{2};
  TidepoolSetPoolIdleTimeout(two.get(), 3'600'000);
  environment where{two};
  TIDEPOOL_POOL_STATISTICS now{};
  const auto look = [&] { TidepoolQueryPoolStatistics(two.get(), &now); };
  look();
  if (now.Concurrency < 2) {
    GTEST_SKIP() << "needs a processor beside the one that computes";
  }
  std::atomic<bool> over = false;
  gate began;
  work busy{[&] {
              began.open();
              while (!over) {
              }
            },
            where};
  busy.submit();
  ASSERT_TRUE(began.pass());
  tally ran;
  work arrival{[&] { ran.add(); }, where};
  std::mt19937 random{22};
  std::chrono::steady_clock::duration delay = 3ms;
  for (unsigned round = 1; round != 1000; ++round) {
    const auto moment = std::chrono::steady_clock::now() + delay;
    while (std::chrono::steady_clock::now() < moment) {
    }
    look();
    arrival.submit();
    const auto step = std::chrono::microseconds(random() % 20);
    delay += now.Scheduled ? step : -step;
    if (!ran.reaches(round)) {
      ADD_FAILURE() << "missed in round " << round;
      break;
    }
  }
  over = true;
}

TEST_F(watching, fences_for_those_who_have_added_something_since_they_rested) {
  const pool one{1};
  environment where{one};
  gate ran;
  work another{[&] { ran.open(); }, where};
  std::atomic<tidepool::engine::worker*> its = nullptr;
  work adding{[&] {
                its = tidepool::engine::worker::current();
                EXPECT_FALSE(its.load()->queue.fences_lightly());
                another.submit();
                EXPECT_TRUE(its.load()->queue.fences_lightly());
              },
              where};
  adding.submit();
  ASSERT_TRUE(ran.pass());
  EXPECT_TRUE(eventually([&] { return !its.load()->queue.fences_lightly(); }));
}

}  // namespace
