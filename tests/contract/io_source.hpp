// An I/O object made like a timer or a wait, for what the API promises about all three in the same words.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>

#include "contract/io_fixtures.hpp"
#include "contract/source_kinds.hpp"

namespace contract {

/// Outlives the object that is bound to it.
struct owner_of_requests {
  io_pipe pipe_;
  std::deque<request> requests_;
};

/// An I/O object whose callback can be asked for.
class io_source : private owner_of_requests, public io {
 public:
  using owner = io;  // its address is the context

  template <class F>
  explicit io_source(F f, PTP_CALLBACK_ENVIRON how = nullptr)
      : owner_of_requests{}, io{pipe_.reader(), std::move(f), how} {}

  /// One callback, as soon as the pool has a thread for it.
  void fire() {
    pipe_.provide("x");
    EXPECT_TRUE(under_way(start_read(pipe_.reader(), requests_.emplace_back(std::size_t{1}))));
  }

  /// Nothing is armed, and what was asked for comes.
  static void unset() {}

  /// Returns when the callbacks that were asked for are queued.
  static void let_fired_be_queued() { let_completions_arrive(); }
};

using source_kinds_and_io = testing::Types<timer_source, wait_source, io_source>;

}  // namespace contract
