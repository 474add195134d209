// asio with io_uring in the place of epoll: its files need that, and its sockets can do with either.
#include <asio/basic_random_access_file.hpp>
#include <asio/buffer.hpp>
#include <asio/error_code.hpp>

#include <cstddef>
#include <span>

#include "../harness/main.hpp"
#include "asio_server.hpp"
#include "asio_threads.hpp"

namespace {

class asio_files {
 public:
  static constexpr const char* name = "asio_uring";

  asio_files(const bench::plan& how, int file) : threads_(how), file_(threads_.context(), file) {}
  ~asio_files() {
    threads_.join();
    file_.release();  // it is the caller's
  }
  asio_files(const asio_files&) = delete;
  asio_files& operator=(const asio_files&) = delete;

  void start(std::span<bench::read_chain> chains) {
    for (bench::read_chain& each : chains) {
      start(each);
    }
  }

 private:
  void start(bench::read_chain& chain) {
    file_.async_read_some_at(chain.offset(), asio::buffer(chain.buffer(), bench::read_size),
                             [this, &chain](const asio::error_code& error, std::size_t size) {
                               chain.completed(chain.buffer(), error ? 0 : size,
                                               [this](bench::read_chain& next) { start(next); });
                             });
  }

  asio_threads threads_;
  asio::basic_random_access_file<asio::io_context::executor_type> file_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<bench::none, bench::none, asio_files, asio_server>(argc, argv); }
