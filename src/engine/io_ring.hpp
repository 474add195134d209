// Requests that the kernel carries out: io_uring.
#pragma once

#include <liburing.h>

#include <atomic>
#include <cstdint>

#include "engine/futex_lock.hpp"
#include "engine/io_request.hpp"

namespace tidepool::engine {

/// One ring for the process, and one thread that submits to it and reaps from it. Not the threads that start requests: the
/// kernel cancels what a thread has submitted when that thread exits. The thread goes when nothing has been under way for
/// some time.
class io_ring {
 public:
  /// Null where the kernel gives us none.
  static io_ring* open() noexcept;
  /// Why it does: an errno, or 0 where there is one.
  static int error() noexcept;

  /// Sees to it that there is a thread until the next submit(). False when none can be had.
  bool be_running() noexcept;
  /// Takes over a request with place `ring`.
  void submit(io_request& request) noexcept;
  /// Some request that is with the ring has been marked as cancelled.
  void cancel_marked() noexcept;

 private:
  /// What came of the only attempt to make one.
  struct attempt {
    io_ring* ring;
    int error;
  };
  static const attempt& only() noexcept;

  io_ring() = default;
  int make() noexcept;

  static void* thread_main(void* self) noexcept;
  void run() noexcept;
  bool take_incoming(bool& look_for_marked) noexcept;
  void prepare(io_request& request) noexcept;
  void prepare_cancellations() noexcept;
  void arm_call() noexcept;
  bool reap() noexcept;
  void note(io_request& request, int outcome) noexcept;
  io_uring_sqe& entry() noexcept;
  void call_thread() noexcept;

  futex_lock lock_;
  // Guarded by the lock.
  request_list incoming_;
  bool marked_ = false;
  bool running_ = false;
  bool asleep_ = false;         // the thread is to be called
  std::uint32_t expected_ = 0;  // submit() calls to come after be_running()

  // The thread's own.
  io_uring ring_{};
  int call_ = -1;  // an eventfd that wakes the thread
  std::uint64_t called_ = 0;
  bool call_armed_ = false;
  request_list in_flight_;
};

}  // namespace tidepool::engine
