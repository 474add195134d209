// asio's sockets, on an io_context that threads of ours run, and with that executor's own type.
#pragma once

#include <asio/basic_socket_acceptor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/buffer.hpp>
#include <asio/error_code.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "../harness/echo.hpp"
#include "asio_threads.hpp"

class asio_server {
 public:
  explicit asio_server(const bench::plan& how)
      : threads_(how), acceptor_(threads_.context(), asio::ip::tcp::v4(), bench::listen_on_loopback()) {
    port_ = bench::port_of(acceptor_.native_handle());
    accept();
  }
  ~asio_server() {
    asio::post(threads_.context(), [this] { acceptor_.close(); });
    threads_.join();
  }
  asio_server(const asio_server&) = delete;
  asio_server& operator=(const asio_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  using executor = asio::io_context::executor_type;
  using socket_type = asio::basic_stream_socket<asio::ip::tcp, executor>;

  // Is its own while an operation of its is under way, of which there is one at a time.
  class connection : bench::echo_connection {
   public:
    explicit connection(socket_type socket) : socket_(std::move(socket)) {
      socket_.set_option(asio::ip::tcp::no_delay(true));
    }

    void receive() {
      socket_.async_receive(asio::buffer(buffer), [this](const asio::error_code& error, std::size_t size) {
        if (error) {
          delete this;
        } else {
          send(0, size);
        }
      });
    }

   private:
    void send(std::size_t from, std::size_t to) {
      socket_.async_send(asio::buffer(buffer.data() + from, to - from),
                         [this, from, to](const asio::error_code& error, std::size_t size) {
                           if (error) {
                             delete this;
                           } else if (from + size < to) {
                             send(from + size, to);
                           } else {
                             echoed(to);
                             receive();
                           }
                         });
    }

    socket_type socket_;
  };

  void accept() {
    acceptor_.async_accept([this](const asio::error_code& error, socket_type socket) {
      if (!error) {
        (new connection(std::move(socket)))->receive();
        accept();
      }
    });
  }

  asio_threads threads_;
  asio::basic_socket_acceptor<asio::ip::tcp, executor> acceptor_;
  std::uint16_t port_ = 0;
};
