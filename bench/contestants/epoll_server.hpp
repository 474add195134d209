// The floor of ECHO: recv and send, on threads that wait in epoll_wait, each for its part of the connections.
// Sockets are watched for good: nobody else reads from them, so that there is nothing to re-arm.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

#include "../harness/echo.hpp"
#include "../harness/placement.hpp"
#include "../harness/signals.hpp"

class epoll_server {
 public:
  explicit epoll_server(const bench::plan& how) : listener_(bench::listen_on_loopback()), pollers_(how.workers) {
    for (int& each : pollers_) {
      each = epoll_create1(EPOLL_CLOEXEC);
      watch(each, stop_.get(), &stop_);
    }
    watch(pollers_[0], listener_, this);
    for (std::size_t index = 0; index < pollers_.size(); ++index) {
      threads_.emplace_back([this, how, index] {
        how.place_worker(index);
        loop(pollers_[index]);
      });
    }
  }
  ~epoll_server() {
    stop_.signal();
    threads_.clear();
    for (const int each : pollers_) {
      close(each);
    }
    close(listener_);
  }
  epoll_server(const epoll_server&) = delete;
  epoll_server& operator=(const epoll_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return bench::port_of(listener_); }

 private:
  struct connection : bench::echo_connection {
    explicit connection(int accepted) noexcept : socket(accepted) {}
    int socket;
  };

  static void watch(int poller, int descriptor, void* what) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = what;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }

  void loop(int poller) {
    epoll_event events[bench::echo_connections];
    for (;;) {
      const int count = epoll_wait(poller, events, static_cast<int>(std::size(events)), -1);
      for (int i = 0; i < count; ++i) {
        void* const what = events[i].data.ptr;
        if (what == &stop_) {
          return;
        }
        if (what == this) {
          accept();
        } else {
          echo(poller, static_cast<connection*>(what));
        }
      }
    }
  }

  void accept() {
    for (;;) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        return;
      }
      bench::send_at_once(socket);
      watch(pollers_[next_], socket, new connection(socket));
      next_ = (next_ + 1) % pollers_.size();
    }
  }

  static void echo(int poller, connection* with) {
    const ssize_t size = recv(with->socket, with->buffer.data(), with->buffer.size(), 0);
    // A short answer to who waits for it always finds room.
    if (size > 0 && send(with->socket, with->buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size) {
      with->echoed(static_cast<std::size_t>(size));
    } else {
      // Closing alone would not do while a process that is just being started still has the descriptor.
      epoll_ctl(poller, EPOLL_CTL_DEL, with->socket, nullptr);
      close(with->socket);
      delete with;
    }
  }

  int listener_;
  std::vector<int> pollers_;
  std::size_t next_ = 0;
  bench::event_descriptor stop_;
  std::vector<std::jthread> threads_;  // last: joined before the rest goes
};
