// F: what timers cost, and how late they are.
#pragma once

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "latency.hpp"
#include "placement.hpp"
#include "tally.hpp"

namespace bench {

// What is allocated on the heap, large blocks with mappings of their own included.
inline double heap_in_use() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}

// The process's own memory as the kernel counts it: for comparison, since a library can go past the heap.
inline double memory_in_use() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0, shared = 0;
  file >> size >> resident >> shared;
  return static_cast<double>((resident - shared) * 4096);
}

// Due times between 10 s and 1,000 s from now, the same for everybody.
inline std::vector<clock::duration> delays(std::size_t count) {
  constexpr auto least = std::chrono::nanoseconds(std::chrono::seconds(10));
  constexpr auto range = std::chrono::nanoseconds(std::chrono::seconds(990));
  std::mt19937_64 random(20);
  std::vector<clock::duration> result(count);
  for (clock::duration& each : result) {
    each = least + std::chrono::nanoseconds(random() % static_cast<std::uint64_t>(range.count()));
  }
  return result;
}

struct timer_costs {
  double arm;     // ns each
  double cancel;  // ns each
  double settle;  // ns each, from the last cancellation until the library has done with all of them
  double heap;    // bytes each
  double memory;  // bytes each
};

struct memory_use {
  double heap = heap_in_use();
  double memory = memory_in_use();
};

// Makes `count` timers, arms all of them, and cancels them in the same order. `before` was taken before the
// process's first timer: what the library has kept of earlier timers is part of what these need.
template <class Sources>
timer_costs arm_and_cancel_once(Sources& sources, const std::vector<clock::duration>& after, std::size_t count,
                                const memory_use& before) {
  std::atomic<std::size_t> fired{0};
  callbacks.expect(count);  // for libraries that call back for a cancelled timer, too
  typename Sources::timers set(sources, count, [&fired](std::size_t) { fired.fetch_add(1); });

  const auto time = [&sources, count](auto operation) {
    clock::time_point begin, end;
    sources.as_owner([&] {
      begin = clock::now();
      for (std::size_t i = 0; i < count; ++i) {
        operation(i);
      }
      end = clock::now();
    });
    return nanoseconds(end - begin);
  };
  const double arm = time([&set, &after](std::size_t i) { set.arm_after(i, after[i]); });
  const memory_use now;
  const double cancel = time([&set](std::size_t i) { set.cancel(i); });
  const clock::time_point cancelled = clock::now();
  set.settle();
  const double settle = nanoseconds(clock::now() - cancelled);
  if (fired != 0) {
    throw std::runtime_error(std::to_string(fired) + " timers fired that were due no earlier than in 10 s");
  }
  const auto n = static_cast<double>(count);
  return {arm / n, cancel / n, settle / n, (now.heap - before.heap) / n, (now.memory - before.memory) / n};
}

struct timer_count {
  const char* name;
  std::size_t timers;
  int rounds;  // whose median counts: a few milliseconds are soon disturbed
};
constexpr timer_count timer_counts[] = {{"10k", 10'000, 11}, {"100k", 100'000, 5}, {"1M", 1'000'000, 1}};

// F_arm: arms and cancels ten thousand, a hundred thousand and a million timers.
template <class Sources>
std::vector<metric> arm_and_cancel(Sources& sources, const plan& how, bool quick) {
  std::vector<metric> result;
  const auto after = delays(timer_counts[std::size(timer_counts) - 1].timers);
  std::jthread submitter([&] {
    how.place_submitter(0);
    const memory_use before;
    (void)arm_and_cancel_once(sources, after, timer_counts[0].timers, before);  // starts threads, fills caches
    double first_arm = 0, first_cancel = 0;
    for (const timer_count& of : timer_counts) {
      std::vector<double> arm, cancel, settle, heap, memory;
      for (int round = 0; round < (quick ? 1 : of.rounds); ++round) {
        const timer_costs seen = arm_and_cancel_once(sources, after, of.timers, before);
        arm.push_back(seen.arm);
        cancel.push_back(seen.cancel);
        settle.push_back(seen.settle);
        heap.push_back(seen.heap);
        memory.push_back(seen.memory);
      }
      const std::string suffix = std::string("_") + of.name;
      result.push_back({"arm" + suffix, "ns", median(arm)});
      result.push_back({"cancel" + suffix, "ns", median(cancel)});
      result.push_back({"settle" + suffix, "ns", median(settle)});
      result.push_back({"bytes_per_timer" + suffix, "B", median(heap)});
      result.push_back({"resident_per_timer" + suffix, "B", median(memory)});
      if (&of == timer_counts) {
        first_arm = median(arm);
        first_cancel = median(cancel);
      } else {
        result.push_back({"arm" + suffix + "_to_10k", "times", median(arm) / first_arm});
        result.push_back({"cancel" + suffix + "_to_10k", "times", median(cancel) / first_cancel});
      }
    }
    callbacks.expect(0);  // where cancellations were reported says nothing about where timers run
  });
  submitter.join();
  return result;
}

// F_late: one-shot timers at known moments, about one per millisecond, on an idle pool. F_beside: beside a callback that
// computes all the time.
template <class Sources>
std::vector<metric> fire_on_time(Sources& sources, const plan& how, std::size_t count, bool beside) {
  std::optional<typename Sources::timers> beginning;
  computation busy;
  if (beside) {
    beginning.emplace(sources, 1, [&busy](std::size_t) { busy.run(); });
    busy.start([&] { sources.as_owner([&] { beginning->arm_at(0, clock::now()); }); });
  }
  constexpr auto every = std::chrono::nanoseconds(std::chrono::milliseconds(1));
  constexpr auto lead = std::chrono::milliseconds(50);
  std::vector<clock::time_point> due(count), started(count);
  std::jthread submitter([&] {
    how.place_submitter(0);
    std::mt19937_64 random(21);
    callbacks.expect(count);
    const auto ran = [&started](std::size_t i) {
      started[i] = clock::now();
      tally::sample_core(callbacks.this_threads_slot());
      callbacks.hit();  // pairs with the wait below
    };
    typename Sources::timers set(sources, count, ran);
    const clock::time_point begin = clock::now() + lead;
    for (std::size_t i = 0; i < count; ++i) {
      due[i] = begin + i * every + std::chrono::nanoseconds(random() % static_cast<std::uint64_t>(every.count()));
    }
    sources.as_owner([&] {
      for (std::size_t i = 0; i < count; ++i) {
        set.arm_at(i, due[i]);
      }
    });
    std::this_thread::sleep_until(due.back() + lead);  // the wait looks at the counts again and again
    callbacks.wait();
  });
  submitter.join();

  std::vector<double> late;
  for (std::size_t i = 0; i < count; ++i) {
    if (started[i] >= due[i]) {
      late.push_back(nanoseconds(started[i] - due[i]));
    }
  }
  const auto early = static_cast<double>(count - late.size());
  std::vector<metric> result;
  report_percentiles(result, "", std::move(late));
  result.push_back({"early", "timers", early});
  return result;
}

}  // namespace bench
