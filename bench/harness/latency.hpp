// How long it takes until a callback starts.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "figures.hpp"
#include "placement.hpp"
#include "tally.hpp"

namespace bench {

// What a callback calls: start() before anything else, finish() when it is ready for the next one.
struct probe {
  clock::time_point started;
  int core = -1;
  std::atomic<bool> ran{false};

  void start() noexcept {
    started = clock::now();
    core = sched_getcpu();
    tally::sample_core(callbacks.this_threads_slot());
  }
  void finish() noexcept { ran.store(true, std::memory_order_release); }  // pairs with the acquire of sample_latency
};

// Keeps the thread of a callback computing, until the end of the scope at the latest.
class computation {
 public:
  computation() = default;
  computation(const computation&) = delete;
  computation& operator=(const computation&) = delete;
  ~computation() { stop(); }

  // `submit()` has a callback call run().
  template <class Submit>
  void start(Submit submit) {
    ended_.store(false);
    submit();
    begun_.wait(false);
  }
  // Does nothing if it has not been started.
  void stop() {
    over_.store(true);
    while (!ended_.load()) {  // not told: this may be gone by the time at which run() could tell
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void run() {
    begun_.store(true);
    begun_.notify_one();
    while (!over_.load()) {
    }
    ended_.store(true);
  }

 private:
  std::atomic<bool> begun_{false}, over_{false}, ended_{true};
};

// Has a callback that calls `seen` run, `samples` times, each time after the workers have been left alone for a
// millisecond: `trigger()` brings it about, `wait(w)` calls w(), which returns when the callback has run, and does what
// the library needs of the thread meanwhile. In the spread placement the thread changes cores every few samples, so
// that it is as often on the same core as a given worker as not.
template <class Trigger, class Wait>
std::vector<metric> sample_latency(const plan& how, std::size_t samples, probe& seen, Trigger trigger, Wait wait) {
  constexpr auto rest = std::chrono::milliseconds(1);
  constexpr std::size_t samples_per_core = 25;
  const auto sleep_until_it_ran = [&seen, rest] {
    do {
      std::this_thread::sleep_for(rest);  // without touching what the callback writes
    } while (!seen.ran.load(std::memory_order_acquire));
  };
  std::vector<double> all, same_core, other_core;
  callbacks.expect(0);
  std::this_thread::sleep_for(rest);
  for (std::size_t i = 0; i < samples; ++i) {
    if (i % samples_per_core == 0) {
      how.place_submitter(i / samples_per_core);
    }
    seen.ran.store(false, std::memory_order_relaxed);
    const int triggered_on = sched_getcpu();
    const auto triggered = clock::now();
    trigger();
    wait(sleep_until_it_ran);
    const double latency = nanoseconds(seen.started - triggered);
    all.push_back(latency);
    (seen.core == triggered_on ? same_core : other_core).push_back(latency);
  }

  const double share = static_cast<double>(same_core.size()) / static_cast<double>(samples);
  std::vector<metric> result;
  report_percentiles(result, "", std::move(all));
  report_percentiles(result, "_same_core", std::move(same_core));
  report_percentiles(result, "_other_core", std::move(other_core));
  result.push_back({"same_core_share", "of 1", share});
  return result;
}

}  // namespace bench
