// libuv's reads of files, which its pool makes and its loop hears of, and its sockets, which are the loop's alone.
#pragma once

#include <uv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../harness/echo.hpp"
#include "../harness/files.hpp"
#include "../harness/placement.hpp"

// A loop on a thread of its own, which runs what others want done there.
class libuv_loop {
 public:
  explicit libuv_loop(const bench::plan& how) {
    if (uv_loop_init(&loop_) != 0 || uv_async_init(&loop_, &command_sent_, &libuv_loop::run_command) != 0) {
      throw std::runtime_error("a loop of libuv could not be made");
    }
    command_sent_.data = this;
    thread_ = std::jthread([this, how] {
      how.place_worker(0);
      uv_run(&loop_, UV_RUN_DEFAULT);  // until nothing is left to watch
    });
  }
  ~libuv_loop() {
    on_its_thread([this] { uv_close(reinterpret_cast<uv_handle_t*>(&command_sent_), nullptr); });
    thread_.join();
    uv_loop_close(&loop_);
  }
  libuv_loop(const libuv_loop&) = delete;
  libuv_loop& operator=(const libuv_loop&) = delete;

  uv_loop_t* get() noexcept { return &loop_; }

  template <class Body>
  void on_its_thread(Body body) {
    command_ = std::ref(body);
    uv_async_send(&command_sent_);
    done_.acquire();
  }

 private:
  static void run_command(uv_async_t* sent) {
    auto* self = static_cast<libuv_loop*>(sent->data);
    self->command_();
    self->done_.release();
  }

  uv_loop_t loop_;
  uv_async_t command_sent_;
  std::function<void()> command_;
  std::binary_semaphore done_{0};
  std::jthread thread_;
};

class libuv_files {
 public:
  libuv_files(const bench::plan& how, int file)
      : file_(file), reads_(bench::reads_in_flight), loop_((set_pool_size(how.workers), how)) {}

  void start(std::span<bench::read_chain> chains) {
    loop_.on_its_thread([&] {
      for (std::size_t i = 0; i < chains.size(); ++i) {
        reads_[i].mine = this;
        reads_[i].chain = &chains[i];
        start(reads_[i]);
      }
    });
  }

 private:
  struct read {
    uv_fs_t request;
    libuv_files* mine;
    bench::read_chain* chain;
  };

  static void set_pool_size(std::size_t threads) {
    setenv("UV_THREADPOOL_SIZE", std::to_string(threads).c_str(), 1);  // looked at by the first request
  }

  void start(read& which) {
    uv_buf_t into = uv_buf_init(reinterpret_cast<char*>(which.chain->buffer()), bench::read_size);
    which.request.data = &which;
    uv_fs_read(loop_.get(), &which.request, file_, &into, 1, static_cast<std::int64_t>(which.chain->offset()),
               [](uv_fs_t* request) { ended(*static_cast<read*>(request->data)); });
  }

  static void ended(read& which) {
    const ssize_t size = which.request.result;
    uv_fs_req_cleanup(&which.request);
    which.chain->completed(which.chain->buffer(), size < 0 ? 0 : static_cast<std::size_t>(size),
                           [&which](bench::read_chain&) { which.mine->start(which); });
  }

  int file_;
  std::vector<read> reads_;
  libuv_loop loop_;  // last: its thread has ended before the rest goes
};

class libuv_server {
 public:
  explicit libuv_server(const bench::plan& how) : loop_(how) {
    loop_.on_its_thread([this] {
      uv_tcp_init(loop_.get(), &listener_);
      listener_.data = this;
      const int socket = bench::listen_on_loopback();
      port_ = bench::port_of(socket);
      uv_tcp_open(&listener_, socket);
      uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), SOMAXCONN, [](uv_stream_t* listener, int error) {
        if (error == 0) {
          static_cast<libuv_server*>(listener->data)->accept();
        }
      });
    });
  }
  ~libuv_server() {
    loop_.on_its_thread([this] {
      uv_close(reinterpret_cast<uv_handle_t*>(&listener_), nullptr);
      for (const auto& each : connections_) {
        close(*each);
      }
    });
  }
  libuv_server(const libuv_server&) = delete;
  libuv_server& operator=(const libuv_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  struct connection : bench::echo_connection {
    uv_tcp_t socket{};
  };

  void accept() {
    auto& made = *connections_.emplace_back(std::make_unique<connection>());
    uv_tcp_init(loop_.get(), &made.socket);
    made.socket.data = &made;
    auto* const stream = reinterpret_cast<uv_stream_t*>(&made.socket);
    if (uv_accept(reinterpret_cast<uv_stream_t*>(&listener_), stream) != 0) {
      return close(made);
    }
    uv_tcp_nodelay(&made.socket, 1);
    uv_read_start(
        stream,
        [](uv_handle_t* handle, std::size_t, uv_buf_t* into) {
          auto& mine = *static_cast<connection*>(handle->data);
          *into = uv_buf_init(reinterpret_cast<char*>(mine.buffer.data()), static_cast<unsigned>(mine.buffer.size()));
        },
        [](uv_stream_t* from, ssize_t size, const uv_buf_t* received) {
          auto& mine = *static_cast<connection*>(from->data);
          if (size > 0) {
            echo(mine, *received, static_cast<std::size_t>(size));
          } else if (size < 0) {
            close(mine);
          }
        });
  }

  // A short answer to who waits for it always finds room.
  static void echo(connection& with, const uv_buf_t& received, std::size_t size) {
    uv_buf_t answer = uv_buf_init(received.base, static_cast<unsigned>(size));
    if (uv_try_write(reinterpret_cast<uv_stream_t*>(&with.socket), &answer, 1) == static_cast<int>(size)) {
      with.echoed(size);
    } else {
      close(with);
    }
  }

  static void close(connection& which) {
    auto* const handle = reinterpret_cast<uv_handle_t*>(&which.socket);
    if (!uv_is_closing(handle)) {
      uv_close(handle, nullptr);
    }
  }

  uv_tcp_t listener_{};
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<connection>> connections_;
  libuv_loop loop_;  // last: its thread has ended before the rest goes
};
