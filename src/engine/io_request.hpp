// One overlapped request, from the call that starts it until its callback begins.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/assertion.hpp"
#include "engine/packet.hpp"
#include "tidepool/win32/minwinbase.h"

struct _TP_IO;
struct _TP_POOL;

namespace tidepool::engine {

class event_object;
class file;

/// Ours, beside the user's OVERLAPPED, so that nothing the user does to that one can lead us astray. It has one owner
/// at a time, and says which; whoever hands it over calls pass(), which checks that it comes from where it must.
struct io_request : packet {
  enum class operation : std::uint8_t { read, write, accept, connect };

  enum class place : std::uint8_t {
    caller,    // with the function that starts it
    port,      // a file's, queued on the user's pool, for a worker to carry out
    worker,    // with the worker that has taken it out and carries it out
    blocking,  // a file's, queued on the pool of threads that may block, or being carried out there
    ring,      // with the kernel
    stream,    // in the queue of a pipe or socket that is not ready
    finished,  // complete: with whoever completed it, queued for its callback, or on the worker that runs it
  };

  io_request(const packet_kind& of, file& target, operation what, OVERLAPPED& by) noexcept
      : packet(of), on(target), op(what), overlapped(&by) {}

  void pass(place from, place to) noexcept {
    TIDEPOOL_ASSERT(is_at(from));
    static_cast<void>(from);
    where_.store(to, std::memory_order_relaxed);
  }
  /// Takes it off a pool's queue, where two may reach for it: the worker that finds it there, and hurry(). Acquire-release:
  /// whoever comes second finds what the first has set up.
  [[nodiscard]] bool take_from_port(place to) noexcept {
    place expected = place::port;
    return where_.compare_exchange_strong(expected, to, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  [[nodiscard]] place whereabouts() const noexcept { return where_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_at(place here) const noexcept { return whereabouts() == here; }

  // ---- what is asked for ----

  void set_buffer(void* base, std::size_t bytes) noexcept {
    single = {base, bytes};
    parts = &single;
    part_count = 1;
    length = bytes;
  }
  void set_parts(const iovec* list, std::size_t count) noexcept {
    parts = list;
    part_count = count;
    length = 0;
    for (std::size_t i = 0; i != count; ++i) {
      length += list[i].iov_len;
    }
  }

  /// What is left of the buffer: so many of its parts, or the rest of one of which a part has been transferred.
  struct rest {
    iovec first;  // when `list` is null
    const iovec* list;
    int count;
    [[nodiscard]] const iovec* data() const noexcept { return list != nullptr ? list : &first; }
  };
  [[nodiscard]] rest remaining() const noexcept;
  [[nodiscard]] std::uint64_t position() const noexcept { return offset + done; }

  void settle() noexcept {
    TIDEPOOL_ASSERT(!settled);
    settled = true;
  }
  void fail(DWORD code) noexcept {
    settle();
    error = code;
  }

  file& on;  // with a reference
  const operation op;
  bool owns_buffer = false;  // a copy of ours: of an address to connect to
  bool retries_blocking = false;
  std::uint32_t address_length = 0;
  std::atomic<bool> cancelled{false};  // relaxed, a wish: it has been asked to end
  // Guarded by the file's lock.
  bool holds_pool = false;  // once it has been forgotten by the TP_IO, which kept the pool before
  bool left_port = false;   // a worker came upon it while somebody else was at it
  OVERLAPPED* const overlapped;
  event_object* event = nullptr;  // with a reference; set when the result is there
  iovec single{};
  const iovec* parts = nullptr;
  std::size_t part_count = 0;
  std::size_t length = 0;
  std::uint64_t offset = 0;

  // ---- the result ----

  bool settled = false;
  std::size_t done = 0;  // bytes
  DWORD error = 0;
  int accepted = -1;  // a descriptor that nobody has been given yet

  // ---- who hears of it; guarded by the file's lock ----

  _TP_IO* io = nullptr;  // null: nobody, or not any more
  _TP_POOL* pool = nullptr;
  io_request* list_next = nullptr;
  io_request* list_previous = nullptr;
  // Of what has the request now: a stream's queue, the ring's list of what is in flight.
  io_request* owner_next = nullptr;
  io_request* owner_previous = nullptr;

 private:
  std::atomic<place> where_{place::caller};  // changed with the file's lock held, but for take_from_port()
};

/// Requests in the order in which they came, linked by their owner_... members.
struct request_list {
  void push(io_request& request) noexcept {
    request.owner_next = nullptr;
    request.owner_previous = last;
    (last != nullptr ? last->owner_next : first) = &request;
    last = &request;
  }
  void remove(io_request& request) noexcept {
    (request.owner_previous != nullptr ? request.owner_previous->owner_next : first) = request.owner_next;
    (request.owner_next != nullptr ? request.owner_next->owner_previous : last) = request.owner_previous;
  }

  io_request* first = nullptr;
  io_request* last = nullptr;
};

}  // namespace tidepool::engine
