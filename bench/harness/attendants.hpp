// Threads for contestants that bring none.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "placement.hpp"

namespace bench {

// As many threads as the plan has workers, placed as such; each runs whatever it is told to, one thing after the other.
class attendants {
 public:
  explicit attendants(const plan& how) {
    for (std::size_t index = 0; index < how.workers; ++index) {
      threads_.emplace_back([this, how, index] {
        how.place_worker(index);
        attend(index);
      });
    }
  }
  ~attendants() {
    tell(nullptr);
    threads_.clear();
  }
  attendants(const attendants&) = delete;
  attendants& operator=(const attendants&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

  // Has every thread call task(its index). They must be done with what they were told before.
  void tell(std::function<void(std::size_t)> task) {
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(task);
      ++told_;
    }
    changed_.notify_all();
  }

 private:
  void attend(std::size_t index) {
    for (std::uint64_t done = 0;; ++done) {
      std::function<void(std::size_t)> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return told_ > done; });
        task = task_;
      }
      if (!task) {
        return;
      }
      task(index);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(std::size_t)> task_;
  std::uint64_t told_ = 0;
  std::vector<std::jthread> threads_;  // last: joined before the rest goes
};

// Which of `count` things are those of thread `index` of `threads`.
inline std::pair<std::size_t, std::size_t> share_of(std::size_t index, std::size_t threads, std::size_t count) {
  return {count * index / threads, count * (index + 1) / threads};
}

}  // namespace bench
