#include "engine/io_ring.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "engine/disk_file.hpp"
#include "engine/start_thread.hpp"

namespace tidepool::engine {

namespace {

constexpr unsigned ring_entries = 256;
constexpr std::size_t ring_stack = std::size_t{256} << 10;
constexpr std::int64_t patience_seconds = 5;

// What a completion's user data is, if it is not a request.
constexpr std::uint64_t call_mark = 1;
constexpr std::uint64_t cancellation_mark = 2;

std::uint64_t data_of(io_request& request) noexcept { return reinterpret_cast<std::uint64_t>(&request); }

}  // namespace

io_ring* io_ring::open() noexcept { return only().ring; }

int io_ring::error() noexcept { return only().error; }

const io_ring::attempt& io_ring::only() noexcept {
  // Never destroyed: requests may be under way until the process is gone.
  alignas(io_ring) static unsigned char storage[sizeof(io_ring)];
  static const attempt once = []() noexcept -> attempt {
    auto* const made = ::new (static_cast<void*>(storage)) io_ring;
    const int error = made->make();
    return {error == 0 ? made : nullptr, error};
  }();
  return once;
}

/// Returns an errno, or 0.
int io_ring::make() noexcept {
  call_ = eventfd(0, EFD_CLOEXEC);
  if (call_ < 0) {
    return errno;
  }
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CLAMP;
  int error = -io_uring_queue_init_params(ring_entries, &ring_, &parameters);
  if (error == 0) {
    // Waiting with a time-out, no lost completions, and parts that need not stay beyond the submission.
    constexpr unsigned needed = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE;
    if ((parameters.features & needed) == needed) {
      return 0;
    }
    io_uring_queue_exit(&ring_);
    error = EOPNOTSUPP;
  }
  close(call_);
  return error;
}

// ---- from outside --------------------------------------------------------------------------------------

bool io_ring::be_running() noexcept {
  const std::lock_guard guard(lock_);
  if (!running_) {
    running_ = start_thread(&thread_main, this, ring_stack);
  }
  expected_ += running_ ? 1u : 0u;
  return running_;
}

void io_ring::submit(io_request& request) noexcept {
  bool call = false;
  {
    const std::lock_guard guard(lock_);
    --expected_;
    incoming_.push(request);
    call = std::exchange(asleep_, false);
  }
  if (call) {
    call_thread();
  }
}

void io_ring::cancel_marked() noexcept {
  bool call = false;
  {
    const std::lock_guard guard(lock_);
    marked_ = true;
    call = std::exchange(asleep_, false);
  }
  if (call) {
    call_thread();
  }
}

void io_ring::call_thread() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!write(call_, &one, sizeof one));
}

// ---- the thread ----------------------------------------------------------------------------------------

void* io_ring::thread_main(void* self) noexcept {
  pthread_setname_np(pthread_self(), "tidepool-ring");
  static_cast<io_ring*>(self)->run();
  return nullptr;
}

void io_ring::run() noexcept {
  for (;;) {
    bool look_for_marked = false;
    const bool idle = !take_incoming(look_for_marked) && in_flight_.first == nullptr;
    if (look_for_marked) {
      prepare_cancellations();
    }
    if (!call_armed_) {
      arm_call();
    }
    __kernel_timespec patience{patience_seconds, 0};
    io_uring_cqe* first = nullptr;
    const int result = io_uring_submit_and_wait_timeout(&ring_, &first, 1, idle ? &patience : nullptr, nullptr);
    const bool something = reap();
    if (idle && !something && result == -ETIME) {
      const std::lock_guard guard(lock_);
      if (incoming_.first == nullptr && expected_ == 0) {
        asleep_ = false;
        marked_ = false;
        running_ = false;
        return;  // the kernel cancels what this thread has armed the call with; see reap()
      }
    }
  }
}

/// Returns whether there was anything. From then on until the next time whoever adds something calls the thread.
bool io_ring::take_incoming(bool& look_for_marked) noexcept {
  request_list taken;
  {
    const std::lock_guard guard(lock_);
    taken = std::exchange(incoming_, request_list{});
    look_for_marked = std::exchange(marked_, false);
    asleep_ = true;
  }
  const bool any = taken.first != nullptr;
  while (io_request* const request = taken.first) {
    taken.remove(*request);
    in_flight_.push(*request);
    if (request->cancelled.load(std::memory_order_relaxed)) {  // before prepare_cancellations() could find it
      note(*request, -ECANCELED);
    } else {
      prepare(*request);
    }
  }
  return any;
}

io_uring_sqe& io_ring::entry() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    io_uring_submit(&ring_);
    entry = io_uring_get_sqe(&ring_);
  }
  return *entry;
}

void io_ring::prepare(io_request& request) noexcept {
  const io_request::rest rest = request.remaining();
  io_uring_sqe& its = entry();
  const int descriptor = request.on.descriptor;
  const bool reads = request.op == io_request::operation::read;
  if (rest.list != nullptr && rest.count != 1) {
    // The list stays where it is: it is the user's.
    if (reads) {
      io_uring_prep_readv(&its, descriptor, rest.list, static_cast<unsigned>(rest.count), request.position());
    } else {
      io_uring_prep_writev(&its, descriptor, rest.list, static_cast<unsigned>(rest.count), request.position());
    }
  } else {
    const iovec& part = *rest.data();
    constexpr std::size_t most = 0x7ffff000;  // what the kernel transfers in one go
    const auto size = static_cast<unsigned>(part.iov_len < most ? part.iov_len : most);
    if (reads) {
      io_uring_prep_read(&its, descriptor, part.iov_base, size, request.position());
    } else {
      io_uring_prep_write(&its, descriptor, part.iov_base, size, request.position());
    }
  }
  io_uring_sqe_set_data64(&its, data_of(request));
}

/// A request that is in flight has not been reaped, so its address names no other when the kernel looks for it: only this
/// thread reaps, and it submits first.
void io_ring::prepare_cancellations() noexcept {
  for (io_request* each = in_flight_.first; each != nullptr; each = each->owner_next) {
    if (each->cancelled.load(std::memory_order_relaxed)) {
      io_uring_sqe& its = entry();
      io_uring_prep_cancel64(&its, data_of(*each), 0);
      io_uring_sqe_set_data64(&its, cancellation_mark);
    }
  }
}

void io_ring::arm_call() noexcept {
  io_uring_sqe& its = entry();
  io_uring_prep_read(&its, call_, &called_, sizeof called_, 0);
  io_uring_sqe_set_data64(&its, call_mark);
  call_armed_ = true;
}

bool io_ring::reap() noexcept {
  bool any = false;
  io_uring_cqe* completion = nullptr;
  while (io_uring_peek_cqe(&ring_, &completion) == 0) {
    const std::uint64_t data = completion->user_data;
    const int outcome = completion->res;
    io_uring_cqe_seen(&ring_, completion);
    any = true;
    if (data == call_mark) {
      call_armed_ = false;
    } else if (data != cancellation_mark) {
      note(*reinterpret_cast<io_request*>(data), outcome);
    }
  }
  return any;
}

void io_ring::note(io_request& request, int outcome) noexcept {
  in_flight_.remove(request);  // first: it may be gone afterwards
  auto& on = static_cast<disk_file&>(request.on);
  if (on.note_from_ring(request, outcome) &&
      !(request.cancelled.load(std::memory_order_relaxed) && !on.note_from_ring(request, -ECANCELED))) {
    in_flight_.push(request);
    prepare(request);
  }
}

}  // namespace tidepool::engine
