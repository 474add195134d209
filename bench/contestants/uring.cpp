// The floor: io_uring with liburing and nothing between. One ring for each thread, which submits, waits and runs the
// completions.
#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "../harness/attendants.hpp"
#include "../harness/main.hpp"

namespace {

class ring {
 public:
  explicit ring(int file) : file_(file) {
    const int made =
        io_uring_queue_init(bench::reads_in_flight, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
    if (made < 0) {
      throw std::system_error(-made, std::generic_category(), "io_uring_queue_init");
    }
  }
  ~ring() { io_uring_queue_exit(&ring_); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  // Until every chain has come to its end.
  void run(std::span<bench::read_chain> chains) {
    for (bench::read_chain& each : chains) {
      start(each);
    }
    while (in_flight_ > 0) {
      io_uring_submit_and_wait(&ring_, 1);
      io_uring_cqe* done = nullptr;
      unsigned head = 0, count = 0;
      io_uring_for_each_cqe(&ring_, head, done) {
        ++count;
        --in_flight_;
        auto& chain = *static_cast<bench::read_chain*>(io_uring_cqe_get_data(done));
        chain.completed(chain.buffer(), done->res < 0 ? 0 : static_cast<std::size_t>(done->res),
                        [this](bench::read_chain& next) { start(next); });
      }
      io_uring_cq_advance(&ring_, count);
    }
  }

 private:
  void start(bench::read_chain& chain) {
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);  // there is one for each chain
    io_uring_prep_read(entry, file_, chain.buffer(), bench::read_size, chain.offset());
    io_uring_sqe_set_data(entry, &chain);
    ++in_flight_;
  }

  int file_;
  io_uring ring_{};
  std::size_t in_flight_ = 0;
};

class uring_files {
 public:
  static constexpr const char* name = "uring";

  uring_files(const bench::plan& how, int file) : file_(file), threads_(how) {}

  void start(std::span<bench::read_chain> chains) {
    threads_.tell([this, chains](std::size_t index) {
      const auto [from, to] = bench::share_of(index, threads_.size(), chains.size());
      thread_local ring mine(file_);  // only the thread that has made it may submit to it
      mine.run(chains.subspan(from, to - from));
    });
  }

 private:
  int file_;
  bench::attendants threads_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<bench::none, bench::none, uring_files>(argc, argv); }
