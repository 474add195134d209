// Counts callbacks without becoming the bottleneck, and tells when all of them have run.
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace bench {

// Each thread that runs callbacks counts in a cache line of its own; only every 1024th callback touches shared
// memory. The same code runs inside every contestant's callbacks.
class tally {
 public:
  static constexpr std::uint64_t chunk = 1024;
  static constexpr std::size_t max_threads = 128;
  static constexpr std::size_t max_cores = 1024;

  struct alignas(128) slot {
    std::atomic<std::uint64_t> count{0};                // written by the owning thread only
    std::atomic<bool> bound{false};                     // the placement phase bound this thread to a core
    std::array<std::uint32_t, max_cores> samples = {};  // callbacks seen, by core; read when no callback runs
  };

  // The body of every counted callback.
  void hit() noexcept {
    slot& mine = this_threads_slot();
    const std::uint64_t count = mine.count.load(std::memory_order_relaxed) + 1;
    // Pairs with the acquire in total(): who sees the count also sees what the callback did.
    mine.count.store(count, std::memory_order_release);
    if (count % chunk == 1) [[unlikely]] {
      sample_core(mine);
      // Only a hint of when to start looking: wait() synchronises through the slots' counts.
      if (chunks_.fetch_add(1, std::memory_order_relaxed) + 1 == wake_at_chunk_.load(std::memory_order_relaxed)) {
        chunks_.notify_all();
      }
    }
  }

  slot& this_threads_slot() noexcept {
    thread_local slot* mine = nullptr;
    if (mine == nullptr) [[unlikely]] {
      const std::size_t index = used_.fetch_add(1, std::memory_order_acq_rel);
      if (index >= max_threads) {
        std::fputs("more threads ran callbacks than the tally has room for\n", stderr);
        std::abort();
      }
      mine = &slots_[index];
    }
    return *mine;
  }

  static void sample_core(slot& mine) noexcept {
    const int core = sched_getcpu();
    if (core >= 0 && static_cast<std::size_t>(core) < max_cores) {
      ++mine.samples[static_cast<std::size_t>(core)];
    }
  }

  // Starts a new count of `expected` callbacks. No callback may be running.
  void expect(std::uint64_t expected) noexcept {
    expected_ = expected;
    for (std::size_t index = 0; index < threads(); ++index) {
      slots_[index].count.store(0, std::memory_order_relaxed);
      slots_[index].samples.fill(0);
    }
    // A thread reports a chunk when it begins it, so when this many reports are in, every thread has at most one
    // chunk and a bit to go: from there on wait() looks at the exact counts.
    const std::uint64_t reports = expected / chunk;
    wake_at_chunk_.store(reports > 1 ? static_cast<int>(reports - 1) : 0, std::memory_order_relaxed);
    chunks_.store(0, std::memory_order_relaxed);
  }

  // Returns when the expected number of callbacks has run. Sleeps for all but the last few chunks, then naps
  // between looks at the counts, so that it takes no core away from the workers.
  void wait() const noexcept {
    const int wake_at = wake_at_chunk_.load(std::memory_order_relaxed);
    for (int seen; (seen = chunks_.load(std::memory_order_relaxed)) < wake_at;) {
      chunks_.wait(seen, std::memory_order_relaxed);
    }
    while (total() < expected_) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < threads(); ++index) {
      sum += slots_[index].count.load(std::memory_order_acquire);
    }
    return sum;
  }

  std::size_t threads() const noexcept { return used_.load(std::memory_order_acquire); }

  std::size_t unbound_threads() const noexcept {
    std::size_t unbound = 0;
    for (std::size_t index = 0; index < threads(); ++index) {
      unbound += slots_[index].bound.load(std::memory_order_relaxed) ? 0U : 1U;
    }
    return unbound;
  }

  // Sampled callbacks by core, summed over the threads. No callback may be running.
  std::vector<std::uint64_t> samples_by_core() const {
    std::vector<std::uint64_t> sum(max_cores);
    for (std::size_t index = 0; index < threads(); ++index) {
      for (std::size_t core = 0; core < max_cores; ++core) {
        sum[core] += slots_[index].samples[core];
      }
    }
    return sum;
  }

 private:
  std::array<slot, max_threads> slots_;
  std::atomic<std::size_t> used_{0};
  alignas(128) std::atomic<int> chunks_{0};
  std::atomic<int> wake_at_chunk_{0};
  std::uint64_t expected_ = 0;
};

// One for the process, so that a callback finds its slot by a thread-local read and nothing else. It is
// constant-initialised and trivially destroyed: pool threads may outlive main().
inline constinit tally callbacks;

}  // namespace bench
