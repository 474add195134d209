// What an io owns on the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tidepool/detail/callback_context.hpp"
#include "tidepool/detail/operation_base.hpp"
#include "tidepool/endpoint.hpp"
#include "win32.hpp"

namespace tidepool::detail {

/// The requests of one io that are outstanding, by number. A slot is used again when its request is over; the
/// generation tells its requests apart. Every operation takes the same time however many there are. Guarded by the io's
/// lock.
class request_table {
 public:
  struct slot {
    operation_base* request = nullptr;  // null: the slot is free
    std::uint64_t generation = 0;
    std::uint64_t cancellations = 0;  // how many of cancel_all() there had been when the request was registered
    bool cancelled = false;           // by name
    std::uint32_t next_free = 0;
  };

  /// Throws std::bad_alloc, and has changed nothing then.
  slot& add(operation_base& request);
  void remove(const operation_base& request) noexcept;
  /// Null when there is none of that generation.
  [[nodiscard]] slot* find(std::uint32_t number, std::uint64_t generation) noexcept;
  [[nodiscard]] slot& of(const operation_base& request) noexcept { return slots_[request.slot]; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::vector<slot> slots_;
  std::uint32_t first_free_ = none;
  std::size_t size_ = 0;
};

/// Requests that are over without a completion, in the order in which that came about.
class request_queue {
 public:
  void push(operation_base& last) noexcept;
  /// There is one.
  [[nodiscard]] operation_base& pop() noexcept;
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  operation_base* first_ = nullptr;
  operation_base* last_ = nullptr;
};

struct io_context : callback_context {
  io_context(endpoint&& what, const std::source_location& where) noexcept;

  endpoint file;
  native::io native = nullptr;
  native::work at_once = nullptr;  // runs the handlers of requests that are over without a completion

  // What some systems do not tell from other errors. Relaxed: a request that is started at the same time may find
  // either.
  std::atomic<bool> unconnected;    // a socket that has not been connected yet
  std::atomic<bool> silent{false};  // shutdown_send() has been called

  std::mutex mutex;
  // Guarded by it:
  request_table requests;        // StartThreadpoolIo has been called for each, and not been balanced
  request_queue over;            // as many as at_once has been submitted for and not begun
  std::uint64_t started = 0;     // requests that ever were
  std::uint64_t cancel_all = 0;  // times that everything has been cancelled
  std::uint32_t drains = 0;      // in progress; what handlers start meanwhile is discarded
  bool ended = false;            // nothing is started any more, by anybody

  /// Changes with every cancellation, under the lock, before the system is asked to cancel. A thread that has just
  /// handed over a request, and reads what it was before, knows that the system's search for requests has found its
  /// own.
  std::atomic<std::uint64_t> cancellations{0};
};

}  // namespace tidepool::detail
