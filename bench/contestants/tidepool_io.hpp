// tidepool's reads of files, and its sockets.
#pragma once

#include <fcntl.h>
#include <tidepool/tidepool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../harness/cases.hpp"
#include "../harness/echo.hpp"
#include "../harness/files.hpp"

// The buffer of each chain goes into its reads and comes back with them.
template <class Pool>
class tidepool_files {
 public:
  tidepool_files(const bench::plan& how, int file)
      : pool_(bench::setup{how.workers, 1}),
        file_(tidepool::endpoint::adopt_descriptor(fcntl(file, F_DUPFD_CLOEXEC, 0)), pool_.environment()) {
    bench::place_workers(pool_, how);
  }

  void start(std::span<bench::read_chain> chains) {
    for (bench::read_chain& each : chains) {
      start(each, tidepool::buffer(bench::read_size));
    }
  }

 private:
  void start(bench::read_chain& chain, tidepool::buffer into) {
    file_.read_at(chain.offset(), std::move(into), [this, &chain](tidepool::transfer<>& done) {
      chain.completed(done.buffer.data(), done.error ? 0 : done.bytes,
                      [&](bench::read_chain& next) { start(next, std::move(done.buffer)); });
    });
  }

  Pool pool_;
  tidepool::io file_;  // last: nothing is under way any more when the rest goes
};

template <class Pool>
class tidepool_server {
 public:
  explicit tidepool_server(const bench::plan& how)
      : tidepool_server(how, tidepool::endpoint::listen(tidepool::socket_address::loopback())) {}

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  // A connection lasts as long as the server: it may not end within its own handler.
  class connection : bench::echo_connection {
   public:
    connection(tidepool::endpoint accepted, const tidepool::callback_environment& environment)
        : socket_(std::move(accepted), environment) {}

    void receive(tidepool::buffer into) {
      socket_.receive(std::move(into), [this](tidepool::transfer<>& done) {
        if (!done.error && done.bytes > 0) {
          send(std::move(done.buffer), done.bytes);
        }
      });
    }

   private:
    void send(tidepool::buffer from, std::size_t bytes) {
      socket_.send(std::move(from), bytes, [this](tidepool::transfer<>& done) {
        if (!done.error) {
          echoed(done.bytes);
          receive(std::move(done.buffer));
        }
      });
    }

    tidepool::io socket_;
  };

  tidepool_server(const bench::plan& how, tidepool::endpoint listener)
      : port_(listener.local_address().port()),
        pool_(bench::setup{how.workers, 1}),
        listener_(std::move(listener), pool_.environment()) {
    bench::place_workers(pool_, how);
    accept();
  }

  void accept() {
    listener_.accept([this](tidepool::acceptance& done) {
      if (!done.error) {
        connections_.push_back(std::make_unique<connection>(std::move(done.connection), pool_.environment()));
        connections_.back()->receive(tidepool::buffer(2 * bench::request_size));
        accept();
      }
    });
  }

  std::uint16_t port_;
  Pool pool_;
  std::vector<std::unique_ptr<connection>> connections_;
  tidepool::io listener_;  // last: nobody is accepted any more when the rest goes
};
