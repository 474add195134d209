#include "engine/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <mutex>
#include <new>

#include "engine/blocking_region.hpp"
#include "engine/event.hpp"
#include "engine/fork.hpp"
#include "engine/handle_table.hpp"
#include "engine/io.hpp"
#include "engine/parking_lot.hpp"
#include "engine/pool.hpp"
#include "engine/probes.hpp"
#include "support/block_cache.hpp"
#include "tidepool/win32/windows.h"

namespace tidepool::engine {

namespace {

/// Threads that sleep until an OVERLAPPED has its result. Sequentially consistent, as the result is: who waits counts
/// itself and then looks at the result, who completes stores that and then looks at the count; so one sees the other.
constinit std::atomic<std::uint32_t> result_waiters{0};

/// A set lowest bit of the event says that there is to be no callback.
bool wants_callback(const OVERLAPPED& overlapped) noexcept {
  return (reinterpret_cast<std::uintptr_t>(overlapped.hEvent) & 1u) == 0;
}

}  // namespace

void publish_result(OVERLAPPED& overlapped, event_object* event, DWORD error, std::size_t done) noexcept {
  overlapped.InternalHigh = done;
  const std::atomic_ref<ULONG_PTR> status(overlapped.Internal);
  if (event != nullptr) {
    // Who waits for the result may use the event again at once, so both are one step.
    parking_place& place = parking_place::of(&overlapped);
    const std::lock_guard guard(place.mutex);
    status.store(error, std::memory_order_seq_cst);
    event->set();
    place.changed.notify_all();
    return;
  }
  status.store(error, std::memory_order_seq_cst);
  if (result_waiters.load(std::memory_order_seq_cst) != 0) [[unlikely]] {
    parking_place& place = parking_place::of(&overlapped);
    const std::lock_guard guard(place.mutex);
    place.changed.notify_all();
  }
}

bool has_result(OVERLAPPED& overlapped) noexcept {
  return std::atomic_ref<ULONG_PTR>(overlapped.Internal).load(std::memory_order_seq_cst) != STATUS_PENDING;
}

void await_result(OVERLAPPED& overlapped) noexcept {
  require_threads();
  const blocking_region region;
  result_waiters.fetch_add(1, std::memory_order_seq_cst);
  {
    parking_place& place = parking_place::of(&overlapped);
    std::unique_lock lock(place.mutex);
    place.changed.wait(lock, [&] { return has_result(overlapped); });
  }
  result_waiters.fetch_sub(1, std::memory_order_relaxed);
}

file::file(int of, bool overlapped) noexcept
    : descriptor(of), overlapped_use(overlapped), opened_for([of]() noexcept -> access {
        const int mode = fcntl(of, F_GETFL) & O_ACCMODE;
        return {mode != O_WRONLY, mode != O_RDONLY};
      }()) {}

file::~file() { TIDEPOOL_ASSERT(requests_ == nullptr && bound_ == nullptr && uses_.is_none()); }

void file::close_descriptor() noexcept {
  if (owns_descriptor_) {
    close(descriptor);
  }
}

bool file::bind(_TP_IO& io) noexcept {
  const std::lock_guard guard(lock_);
  if (bound_ != nullptr) {
    return false;
  }
  bound_ = &io;
  return true;
}

void file::unbind(const _TP_IO& io) noexcept {
  const std::lock_guard guard(lock_);
  if (bound_ == &io) {
    bound_ = nullptr;
  }
}

// ---- the life of a request -----------------------------------------------------------------------------

io_request* file::make(io_request::operation what, OVERLAPPED& overlapped, DWORD& error) noexcept {
  const bool allowed = what == io_request::operation::read    ? opened_for.read
                       : what == io_request::operation::write ? opened_for.write
                                                              : true;
  if (!allowed) {
    error = ERROR_ACCESS_DENIED;
    return nullptr;
  }
  object_pin event;
  if (overlapped.hEvent != nullptr) {
    event = object_pin{overlapped.hEvent};
    if (!event || event->kind != object_kind::event) {
      error = ERROR_INVALID_HANDLE;
      return nullptr;
    }
  }
  void* const block = support::allocate_block(sizeof(io_request));
  if (block == nullptr) {
    error = ERROR_NOT_ENOUGH_MEMORY;
    return nullptr;
  }
  add_use();  // the caller has the handle's
  auto* const made = ::new (block) io_request(kinds_of<&dispatch>[normal_level], *this, what, overlapped);
  if (event) {
    made->event = &static_cast<event_object&>(*event);
    made->event->add_reference();
    made->event->reset();
  }
  overlapped.InternalHigh = 0;
  std::atomic_ref<ULONG_PTR>(overlapped.Internal).store(STATUS_PENDING, std::memory_order_relaxed);
  return made;
}

void file::enlist(io_request& request) noexcept {
  TIDEPOOL_ASSERT(request.is_at(io_request::place::caller));
  // Without a start that is not balanced yet nothing keeps the TP_IO.
  if (bound_ != nullptr && !bound_->state.is_quiet() && wants_callback(*request.overlapped)) {
    request.io = bound_;
    request.pool = bound_->settings.pool;
    request.kind = &kinds_of<&dispatch>[bound_->settings.level];
  }
  request.list_next = requests_;
  request.list_previous = nullptr;
  if (requests_ != nullptr) {
    requests_->list_previous = &request;
  }
  requests_ = &request;
}

void file::delist(io_request& request) noexcept {
  (request.list_previous != nullptr ? request.list_previous->list_next : requests_) = request.list_next;
  if (request.list_next != nullptr) {
    request.list_next->list_previous = request.list_previous;
  }
}

void file::destroy(io_request& request) noexcept {
  if (request.accepted >= 0) {
    close(request.accepted);
  }
  if (request.owns_buffer) {
    support::free_block(request.single.iov_base, request.single.iov_len);
  }
  if (request.event != nullptr) {
    request.event->release_reference();
  }
  file& on = request.on;
  _TP_POOL* const pool = request.holds_pool ? request.pool : nullptr;
  request.~io_request();
  support::free_block(&request, sizeof(io_request));
  if (pool != nullptr) {
    pool->release();
  }
  on.end_use();
}

file::start_result file::conclude(io_request& request, bool enlisted) noexcept {
  TIDEPOOL_ASSERT(request.settled);
  if (request.error != 0) {
    const DWORD error = request.error;
    if (enlisted) {
      delist(request);
    }
    request.overlapped->InternalHigh = 0;
    std::atomic_ref<ULONG_PTR>(request.overlapped->Internal).store(error, std::memory_order_release);
    destroy(request);
    return {started::refused, error, 0};
  }
  if (!enlisted) {
    enlist(request);
  }
  const std::size_t done = request.done;
  if (skips_.load(std::memory_order_relaxed)) {
    request.io = nullptr;
  }
  finish(request, io_request::place::caller);
  return {started::complete, 0, done};
}

void file::finish(io_request& request, io_request::place from) noexcept {
  TIDEPOOL_ASSERT(request.settled);
  request.pass(from, io_request::place::finished);
  if (request.holds_pool && request.accepted >= 0) {
    request.error = ERROR_OPERATION_ABORTED;  // nobody will ever take the connection
    request.done = 0;
  }
  if (request.io != nullptr) {
    // Until its callback begins, the TP_IO's count or the request keeps the pool.
    _TP_POOL& pool = *request.pool;
    publish_result(*request.overlapped, request.event, request.error, request.done);
    TIDEPOOL_PROBE(submit, request.io, &pool);
    if (from == io_request::place::caller && request.op == io_request::operation::write) {
      // What the callback wants is still in the cache of the core that started the write.
      pool.queue_overtaking(request);
    } else {
      pool.arrive(request);
    }
    return;
  }
  delist(request);
  if (!request.holds_pool) {
    request.accepted = -1;  // whoever looks at the OVERLAPPED gets it
  }
  publish_result(*request.overlapped, request.event, request.error, request.done);
  destroy(request);
}

void file::dispatch(worker& on, packet& entry) noexcept {
  auto& request = static_cast<io_request&>(entry);
  if (request.take_from_port(io_request::place::worker)) {
    if (request.on.is_carried_out(on, request)) {
      run_callback(on, request);
    }
  } else if (request.is_at(io_request::place::blocking)) {
    if (request.on.is_carried_out(on, request)) {
      request.on.finish_alone(request, io_request::place::blocking);  // on the user's pool from here
    }
  } else {
    run_callback(on, request);
  }
  on.pool.between_callbacks(on);
}

bool file::is_carried_out(worker& on, io_request& request) noexcept {
  if (request.cancelled.load(std::memory_order_relaxed)) {
    request.fail(ERROR_OPERATION_ABORTED);
    return true;
  }
  return carry_out(on, request);
}

/// Not if hurry() is at the request: then that queues it again.
void file::run_callback(worker& on, io_request& request) noexcept {
  OVERLAPPED* const overlapped = request.overlapped;
  DWORD error;
  std::size_t done;
  _TP_IO* io;
  {
    file& its = request.on;
    const std::lock_guard guard(its.lock_);
    const bool carried_out = request.is_at(io_request::place::worker);
    if (!carried_out && !request.is_at(io_request::place::finished)) {
      request.left_port = true;
      return;
    }
    error = request.error;
    done = request.done;
    if (carried_out) {
      request.pass(io_request::place::worker, io_request::place::finished);
      publish_result(*overlapped, request.event, error, done);
    }
    its.delist(request);
    io = request.io;
  }
  if (io != nullptr) {
    request.accepted = -1;
  }
  destroy(request);  // before the callback, whose own requests find its memory warm
  if (io != nullptr) {
    io->run(on, *overlapped, error, done);
  }
}

void file::finish_alone(io_request& request, io_request::place from) noexcept {
  add_reference();  // the request's may be the last
  {
    const std::lock_guard guard(lock_);
    finish(request, from);
  }
  release();
}

void file::hurry(const OVERLAPPED& overlapped) noexcept {
  io_request* request = nullptr;
  {
    const std::lock_guard guard(lock_);
    for (io_request* each = requests_; each != nullptr; each = each->list_next) {
      if (each->overlapped == &overlapped && each->take_from_port(io_request::place::caller)) {
        request = each;
        break;
      }
    }
  }
  if (request == nullptr) {
    return;
  }
  carry_out_here(*request);
  _TP_POOL* pool = nullptr;
  {
    const std::lock_guard guard(lock_);
    request->pass(io_request::place::caller, io_request::place::finished);
    publish_result(*request->overlapped, request->event, request->error, request->done);
    if (request->left_port) {
      pool = request->pool;  // which the TP_IO's count, or the request, keeps
    }
  }
  if (pool != nullptr) {
    TIDEPOOL_PROBE(submit, request->io, pool);
    pool->arrive(*request);
  }
}

// ---- cancelling ----------------------------------------------------------------------------------------

bool file::cancel(const OVERLAPPED* overlapped) noexcept {
  bool found = false;
  const std::lock_guard guard(lock_);
  for (io_request* each = requests_; each != nullptr;) {
    io_request& request = *each;
    each = each->list_next;
    if (request.is_at(io_request::place::finished) || (overlapped != nullptr && request.overlapped != overlapped)) {
      continue;
    }
    found = true;
    request.cancelled.store(true, std::memory_order_relaxed);
    if (take_back(request)) {
      const io_request::place from = request.whereabouts();
      request.fail(ERROR_OPERATION_ABORTED);
      finish(request, from);
    }
  }
  return found;
}

std::size_t file::forget(const _TP_IO& io) noexcept {
  std::size_t forgotten = 0;
  const std::lock_guard guard(lock_);
  for (io_request* each = requests_; each != nullptr; each = each->list_next) {
    if (each->io == &io) {
      each->io = nullptr;
      each->pool->retain();
      each->holds_pool = true;
      ++forgotten;
    }
  }
  return forgotten;
}

// ---- handles -------------------------------------------------------------------------------------------

file_object::~file_object() {
  target.cancel(nullptr);
  target.end_use();
}

HANDLE open_file_object(file& target) noexcept {
  const HANDLE handle = open_new_object(new (std::nothrow) file_object(target));
  if (handle == nullptr) {
    target.leave_descriptor();
  }
  target.end_use();
  return handle;
}

}  // namespace tidepool::engine
