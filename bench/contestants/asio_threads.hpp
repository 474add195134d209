// An io_context that threads of ours run.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <cstddef>
#include <thread>
#include <vector>

#include "../harness/placement.hpp"

class asio_threads {
 public:
  explicit asio_threads(const bench::plan& how)
      : context_(static_cast<int>(how.workers)), stays_(context_.get_executor()) {
    for (std::size_t index = 0; index < how.workers; ++index) {
      threads_.emplace_back([this, how, index] {
        how.place_worker(index);
        context_.run();
      });
    }
  }
  // Ends when nothing is left to do.
  void join() {
    stays_.reset();
    threads_.clear();
  }
  ~asio_threads() { join(); }
  asio_threads(const asio_threads&) = delete;
  asio_threads& operator=(const asio_threads&) = delete;

  asio::io_context& context() noexcept { return context_; }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> stays_;
  std::vector<std::jthread> threads_;
};
