#include "engine/disk_file.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <mutex>

#include "engine/blocking_io.hpp"
#include "engine/io_path.hpp"
#include "engine/io_ring.hpp"
#include "engine/pool.hpp"
#include "engine/system_error.hpp"

namespace tidepool::engine {

namespace {

/// The offset of a write that goes to the end of the file.
constexpr std::uint64_t at_the_end = UINT64_MAX;

std::int64_t transfer(const io_request& request, int flags) noexcept {
  const io_request::rest rest = request.remaining();
  const bool appends = request.offset == at_the_end;
  const auto position = appends ? 0 : static_cast<off_t>(request.position());
  flags |= appends ? RWF_APPEND : 0;
  for (;;) {
    const ssize_t result = request.op == io_request::operation::read
                               ? preadv2(request.on.descriptor, rest.data(), rest.count, position, flags)
                               : pwritev2(request.on.descriptor, rest.data(), rest.count, position, flags);
    if (result >= 0) {
      return result;
    }
    if (errno != EINTR) {
      return -std::int64_t{errno};
    }
  }
}

}  // namespace

void disk_file::note(io_request& request, std::int64_t outcome) noexcept {
  if (outcome < 0) {
    request.fail(win32_error_of(static_cast<int>(-outcome)));
    return;
  }
  request.done += static_cast<std::size_t>(outcome);
  TIDEPOOL_ASSERT(request.done <= request.length);
  if (request.done == request.length) {
    request.settle();
  } else if (outcome == 0) {
    if (request.op == io_request::operation::write) {
      request.fail(ERROR_DISK_FULL);
    } else if (request.done == 0) {
      request.fail(ERROR_HANDLE_EOF);
    } else {
      request.settle();  // up to the end of the file
    }
  }
}

/// As far as it goes without blocking.
void disk_file::attempt(io_request& request) noexcept {
  std::atomic<bool>& tries = request.op == io_request::operation::read ? tries_reads_ : tries_writes_;
  while (!request.settled && tries.load(std::memory_order_relaxed)) {
    const std::int64_t outcome = transfer(request, RWF_NOWAIT);
    if (outcome == -EAGAIN) {
      return;
    }
    if (outcome == -EOPNOTSUPP || outcome == -ENOSYS || outcome == -EINVAL) {
      tries.store(false, std::memory_order_relaxed);
      return;  // what else an EINVAL may mean comes out in the blocking call
    }
    note(request, outcome);
  }
}

file::start_result disk_file::begin(io_request& request) noexcept {
  const bool shortcuts = io_path::takes_shortcuts();
  const bool writes = request.op == io_request::operation::write;
  if ((!writes && request.op != io_request::operation::read) ||
      (request.offset > INT64_MAX && !(writes && request.offset == at_the_end))) {
    request.fail(ERROR_INVALID_PARAMETER);
  } else if (request.length == 0) {
    request.settle();
  }
  io_request::place next = io_request::place::caller;
  {
    const std::lock_guard guard(lock_);
    enlist(request);
    if (!request.settled && request.io != nullptr && shortcuts && request.event == nullptr &&
        !request.pool->seems_busy()) {
      next = io_request::place::port;
      request.pass(io_request::place::caller, next);
    }
  }
  if (next == io_request::place::port) {
    // Until it is taken out again nobody else gives the request away, and it, or what it holds, keeps the pool.
    request.pool->arrive(request);
    return {started::pending, 0, 0};
  }
  if (shortcuts) {
    attempt(request);
  }
  if (request.settled) {
    const std::lock_guard guard(lock_);
    return conclude(request, true);
  }
  pass_on(request, io_request::place::caller);
  return {started::pending, 0, 0};
}

/// To whoever may wait for the disk.
void disk_file::pass_on(io_request& request, io_request::place from) noexcept {
  io_ring* const ring = request.offset != at_the_end ? io_path::ring() : nullptr;
  const bool to_ring = ring != nullptr && ring->be_running();
  {
    const std::lock_guard guard(lock_);
    request.pass(from, to_ring ? io_request::place::ring : io_request::place::blocking);
  }
  if (to_ring) {
    ring->submit(request);
  } else {
    queue_blocking(request);
  }
}

bool disk_file::carry_out(worker& on, io_request& request) noexcept {
  if (request.is_at(io_request::place::blocking)) {
    on.pool.excuse(on);
    carry_out_here(request);
    return true;
  }
  attempt(request);
  if (request.settled) {
    return true;
  }
  pass_on(request, io_request::place::worker);
  return false;
}

void disk_file::carry_out_here(io_request& request) noexcept {
  while (!request.settled) {
    note(request, transfer(request, 0));
  }
}

bool disk_file::take_back(io_request& request) noexcept {
  if (request.is_at(io_request::place::ring)) {
    io_path::ring()->cancel_marked();
  }
  return false;  // queued: finds itself cancelled when it is taken out
}

bool disk_file::note_from_ring(io_request& request, int outcome) noexcept {
  if (outcome == -EAGAIN || outcome == -EINTR) {
    return true;
  }
  note(request, outcome);
  if (!request.settled) {
    return true;
  }
  finish_alone(request, io_request::place::ring);
  return false;
}

}  // namespace tidepool::engine
