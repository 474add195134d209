#include "engine/stream.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <mutex>
#include <new>

#include "engine/blocking_io.hpp"
#include "engine/poller.hpp"
#include "engine/pool.hpp"
#include "engine/system_error.hpp"
#include "engine/without_sigpipe.hpp"
#include "tidepool/win32/errhandlingapi.h"

namespace tidepool::engine {

namespace {

// One part is the rule, and what the kernel does for a list of parts costs as much as a small transfer.

ssize_t send_to_socket(int socket, const io_request::rest& rest) noexcept {
  if (rest.count == 1) {
    return send(socket, rest.data()->iov_base, rest.data()->iov_len, MSG_NOSIGNAL);
  }
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(rest.data());
  message.msg_iovlen = static_cast<std::size_t>(rest.count);
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t write_to_pipe(int pipe, const io_request::rest& rest) noexcept {
  const without_sigpipe guard;
  return rest.count == 1 ? write(pipe, rest.data()->iov_base, rest.data()->iov_len)
                         : writev(pipe, rest.data(), rest.count);
}

ssize_t read_from(int descriptor, bool is_socket, const io_request::rest& rest) noexcept {
  if (rest.count != 1) {
    return readv(descriptor, rest.data(), rest.count);
  }
  return is_socket ? recv(descriptor, rest.data()->iov_base, rest.data()->iov_len, 0)
                   : read(descriptor, rest.data()->iov_base, rest.data()->iov_len);
}

/// Whether it is TCP with nothing in between that puts what comes into records of its own.
bool is_plain_tcp(int socket) noexcept {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  if (getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 || protocol != IPPROTO_TCP) {
    return false;
  }
  char layer[16] = {};
  size = sizeof layer;
  return getsockopt(socket, IPPROTO_TCP, TCP_ULP, layer, &size) == 0 && size == 0;
}

/// Repeats a call of the system as long as a signal interrupts it. Returns its result, or an errno value negated.
template <class Call>
std::int64_t call_system(Call call) noexcept {
  for (;;) {
    const auto result = call();
    if (result >= 0) {
      return result;
    }
    if (errno != EINTR) {
      return -std::int64_t{errno};
    }
  }
}

}  // namespace

stream* stream::make(int descriptor, sort of) noexcept {
  if (!poller::instance().open()) {
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return nullptr;
  }
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) {
    SetLastError(win32_error_of(errno));
    return nullptr;
  }
  const std::uint64_t key = reserve_key();
  auto* const made = key != 0 ? new (std::nothrow) stream(descriptor, of, key) : nullptr;
  if (made == nullptr) {
    if (key != 0) {
      release_key(key);
    }
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return nullptr;
  }
  assign_key(key, *made);
  return made;
}

stream::~stream() { release_key(key_); }

void stream::close_descriptor() noexcept {
  if (watched_) {  // by the last user: nobody changes it any more
    // Not left to close(): others may have a duplicate, and with it the registration would live on.
    epoll_ctl(poller::instance().epoll(), EPOLL_CTL_DEL, descriptor, nullptr);
  }
  file::close_descriptor();
}

file::start_result stream::begin(io_request& request) noexcept {
  _TP_POOL* unserved = nullptr;
  bool blocking = false;
  {
    const std::lock_guard guard(lock_);
    request_list& its = queue_of(request);
    const bool transfers = request.op == io_request::operation::read || request.op == io_request::operation::write;
    const bool nothing = transfers && request.length == 0;
    if (nothing) {
      request.settle();
    } else if (its.first == nullptr && !(empty_ && request.op == io_request::operation::read)) {
      attempt(request);
    }
    if (!request.settled && !be_watched()) {
      request.fail(ERROR_NO_SYSTEM_RESOURCES);
    }
    if (request.settled) {
      return conclude(request);
    }
    enlist(request);
    if (request.retries_blocking) {
      request.pass(io_request::place::caller, io_request::place::blocking);
      blocking = true;
    } else {
      request.pass(io_request::place::caller, io_request::place::stream);
      its.push(request);
      note_interest();
      if (!poller::instance().is_served()) [[unlikely]] {
        // The request may be over, and its pool gone, before we come to that.
        unserved = request.pool != nullptr ? request.pool : &_TP_POOL::process_default();
        unserved->retain();
      }
    }
  }
  if (blocking) {
    queue_blocking(request);
  }
  if (unserved != nullptr) {
    poller::instance().ensure_served(*unserved);
    unserved->release();
  }
  return {started::pending, 0, 0};
}

/// With the lock held: registers the descriptor when it is first needed.
bool stream::be_watched() noexcept {
  if (!watched_) {
    epoll_event wanted{EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.u64 = key_}};
    watched_ = epoll_ctl(poller::instance().epoll(), EPOLL_CTL_ADD, descriptor, &wanted) == 0;
    short_is_empty_ = watched_ && sort_ == sort::socket && is_plain_tcp(descriptor);
  }
  return watched_;
}

void stream::note_interest() noexcept {
  const bool now = in_.first != nullptr || out_.first != nullptr;
  if (now != interested_) {
    interested_ = now;
    if (now) {
      poller::instance().begin_interest();
    } else {
      poller::instance().end_interest();
    }
  }
}

void stream::note_events(std::uint32_t events) noexcept {
  {
    const std::lock_guard guard(lock_);
    if ((events & ~std::uint32_t{EPOLLOUT}) != 0) {
      empty_ = false;
    }
    if ((events & ~std::uint32_t{EPOLLIN | EPOLLOUT}) != 0) {
      // The end, an error, or urgent data, at which reads stop: it may have come with the bytes before it, in one edge.
      short_is_empty_ = false;
    }
    serve(in_);
    serve(out_);
    note_interest();
  }
  release();
}

void stream::serve(request_list& which) noexcept {
  while (io_request* const request = which.first) {
    attempt(*request);
    if (!request->settled) {
      return;
    }
    which.remove(*request);
    finish(*request, io_request::place::stream);
  }
}

bool stream::take_back(io_request& request) noexcept {
  if (!request.is_at(io_request::place::stream)) {
    return false;
  }
  queue_of(request).remove(request);
  note_interest();
  return true;
}

void stream::attempt(io_request& request) noexcept {
  switch (request.op) {
    case io_request::operation::read:
    case io_request::operation::write: attempt_transfer(request); break;
    case io_request::operation::accept: attempt_accept(request); break;
    case io_request::operation::connect: attempt_connect(request); break;
  }
}

void stream::attempt_transfer(io_request& request) noexcept {
  do {
    const std::int64_t outcome = call_system([&]() noexcept {
      const io_request::rest rest = request.remaining();
      if (request.op == io_request::operation::read) {
        return read_from(descriptor, sort_ == sort::socket, rest);
      }
      return sort_ == sort::socket ? send_to_socket(descriptor, rest) : write_to_pipe(descriptor, rest);
    });
    if (request.op == io_request::operation::read) {
      note_read(outcome, request);
    }
    if (outcome == -EAGAIN) {
      return;
    }
    note_transfer(request, outcome);
  } while (!request.settled);
}

/// `outcome`: of a call that asked for all of the buffer, unless that has more parts than one call takes.
void stream::note_read(std::int64_t outcome, const io_request& request) noexcept {
  const bool is_short = outcome == -EAGAIN || (outcome > 0 && static_cast<std::size_t>(outcome) < request.length &&
                                               request.part_count <= IOV_MAX);
  empty_ = short_is_empty_ && is_short;
}

void stream::note_transfer(io_request& request, std::int64_t outcome) noexcept {
  if (outcome < 0) {
    const int error = static_cast<int>(-outcome);
    // Windows tells a stream whose peer has gone from a pipe that is being closed.
    request.fail(error == EPIPE && sort_ == sort::socket ? ERROR_CONNECTION_ABORTED : win32_error_of(error));
    return;
  }
  request.done += static_cast<std::size_t>(outcome);
  TIDEPOOL_ASSERT(request.done <= request.length);
  if (request.op == io_request::operation::read) {
    if (outcome == 0 && sort_ != sort::socket) {
      request.fail(sort_ == sort::pipe ? ERROR_BROKEN_PIPE : ERROR_HANDLE_EOF);
    } else {
      request.settle();
    }
  } else if (request.done == request.length) {
    request.settle();
  }
}

void stream::attempt_accept(io_request& request) noexcept {
  for (;;) {
    const std::int64_t outcome =
        call_system([&]() noexcept { return accept4(descriptor, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
    if (outcome == -EAGAIN) {
      return;
    }
    if (outcome == -ECONNABORTED) {
      continue;  // that one gave up meanwhile
    }
    if (outcome < 0) {
      request.fail(win32_error_of(static_cast<int>(-outcome)));
    } else {
      request.accepted = static_cast<int>(outcome);
      request.done = static_cast<std::size_t>(outcome);
      request.settle();
    }
    return;
  }
}

void stream::attempt_connect(io_request& request) noexcept {
  if (request.is_at(io_request::place::caller)) {
    const int result =
        connect(descriptor, static_cast<const sockaddr*>(request.single.iov_base), request.address_length);
    if (result == 0) {
      request.settle();
    } else if (errno == EAGAIN) {
      request.retries_blocking = true;  // of a Unix domain socket, whose peer has too many to accept: no event follows
    } else if (errno != EINPROGRESS && errno != EINTR) {
      request.fail(win32_error_of(errno));
    }
    return;
  }
  pollfd asked{descriptor, POLLOUT, 0};
  if (poll(&asked, 1, 0) <= 0) {
    return;
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) {
    request.settle();
  } else {
    request.fail(win32_error_of(error));
  }
}

/// The connection that has to be waited for in a blocking call. Nothing else can be under way on the socket with success.
bool stream::carry_out(worker& on, io_request& request) noexcept {
  TIDEPOOL_ASSERT(request.op == io_request::operation::connect);
  on.pool.excuse(on);
  const int flags = fcntl(descriptor, F_GETFL);
  fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
  const timeval between_looks{0, 100'000};  // at whether it has been cancelled
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &between_looks, sizeof between_looks);
  std::int64_t outcome;
  bool cancelled = false;
  do {
    outcome = call_system([&]() noexcept {
      return connect(descriptor, static_cast<const sockaddr*>(request.single.iov_base), request.address_length);
    });
    cancelled = request.cancelled.load(std::memory_order_relaxed);
  } while (outcome == -EAGAIN && !cancelled);
  const timeval no_limit{};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &no_limit, sizeof no_limit);
  fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  if (outcome >= 0) {
    request.settle();
  } else {
    request.fail(outcome == -EAGAIN ? ERROR_OPERATION_ABORTED : win32_error_of(static_cast<int>(-outcome)));
  }
  return true;
}

}  // namespace tidepool::engine
