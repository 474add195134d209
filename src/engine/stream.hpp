// Pipes, sockets and terminals.
#pragma once

#include "engine/file.hpp"
#include "engine/poll_target.hpp"

namespace tidepool::engine {

/// A request is tried when it starts. One that finds the descriptor not ready, or others before it, waits in the queue of
/// its direction; the poller tries the queue again when the descriptor has become ready. The descriptor is registered
/// once, edge-triggered: an edge that comes between a vain try and the queueing finds the lock held, and then the
/// queue. A read of what is known to be empty is queued without a try.
class stream final : public file, poll_target {
 public:
  enum class sort : std::uint8_t { pipe, socket, other };

  /// Takes the descriptor over, unless it returns null, with the last error set.
  static stream* make(int descriptor, sort of) noexcept;

 private:
  stream(int of, sort which, std::uint64_t key) noexcept : file(of, true), sort_(which), key_(key) {}
  ~stream() override;

  void close_descriptor() noexcept override;
  start_result begin(io_request& request) noexcept override;
  bool carry_out(worker& on, io_request& request) noexcept override;
  void carry_out_here(io_request&) noexcept override {}  // nothing of ours is ever queued for a worker of a pool
  bool take_back(io_request& request) noexcept override;
  [[nodiscard]] bool try_keep() noexcept override { return try_add_reference(); }
  void note_events(std::uint32_t events) noexcept override;

  // With the lock held:
  void attempt(io_request& request) noexcept;
  void note_transfer(io_request& request, std::int64_t outcome) noexcept;
  void note_read(std::int64_t outcome, const io_request& request) noexcept;
  void attempt_transfer(io_request& request) noexcept;
  void attempt_accept(io_request& request) noexcept;
  void attempt_connect(io_request& request) noexcept;
  void serve(request_list& which) noexcept;
  bool be_watched() noexcept;
  void note_interest() noexcept;
  request_list& queue_of(const io_request& request) noexcept {
    using enum io_request::operation;
    return request.op == read || request.op == accept ? in_ : out_;
  }

  const sort sort_;
  const std::uint64_t key_;
  // Guarded by the lock.
  request_list in_;
  request_list out_;
  bool watched_ = false;         // registered with the poller
  bool short_is_empty_ = false;  // a read that got less than it wanted has left nothing, and what comes brings an edge
  bool empty_ = false;           // nothing has come since such a read
  bool interested_ = false;      // the poller counts us among those who wait
};

}  // namespace tidepool::engine
