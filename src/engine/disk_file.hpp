// Regular files and block devices.
#pragma once

#include "engine/file.hpp"

namespace tidepool::engine {

/// A request is queued on the pool that its callback is for, and the worker that takes it out does it there and then when
/// the page cache has what it takes: no second thread, and no second trip through a queue. If not, it goes to the ring, or
/// to threads that may block. Without a TP_IO, with an event, or when all threads of the pool are busy, somebody may wait
/// for it on the very thread that the pool would need: then the starting thread tries the cache.
class disk_file final : public file {
 public:
  disk_file(int of, bool overlapped) noexcept : file(of, overlapped) {}

  /// From the ring: the outcome of what the request was sent there for. Returns whether it has to go there again.
  bool note_from_ring(io_request& request, int outcome) noexcept;

 private:
  start_result begin(io_request& request) noexcept override;
  bool carry_out(worker& on, io_request& request) noexcept override;
  void carry_out_here(io_request& request) noexcept override;
  bool take_back(io_request& request) noexcept override;

  void attempt(io_request& request) noexcept;
  void note(io_request& request, std::int64_t outcome) noexcept;
  void pass_on(io_request& request, io_request::place from) noexcept;

  // Relaxed: whether the file system can say that something would block; found out by trying.
  std::atomic<bool> tries_reads_{true};
  std::atomic<bool> tries_writes_{true};
};

}  // namespace tidepool::engine
