// The floor without asynchrony: threads that call pread, one after the other.
#include <unistd.h>

#include <cstddef>
#include <span>

#include "../harness/attendants.hpp"
#include "../harness/main.hpp"

namespace {

class pread_files {
 public:
  static constexpr const char* name = "pread";

  pread_files(const bench::plan& how, int file) : file_(file), threads_(how) {}

  void start(std::span<bench::read_chain> chains) {
    threads_.tell([this, chains](std::size_t index) {
      const auto [from, to] = bench::share_of(index, threads_.size(), chains.size());
      read(chains.subspan(from, to - from));
    });
  }

 private:
  // A read of each chain in turn, until all have come to their end.
  void read(std::span<bench::read_chain> chains) const {
    for (bool going = true; going;) {
      going = false;
      for (bench::read_chain& each : chains) {  // which are of one length: all end in the same round
        const ssize_t size = pread(file_, each.buffer(), bench::read_size, static_cast<off_t>(each.offset()));
        each.completed(each.buffer(), size < 0 ? 0 : static_cast<std::size_t>(size),
                       [&going](bench::read_chain&) { going = true; });
      }
    }
  }

  int file_;
  bench::attendants threads_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<bench::none, bench::none, pread_files>(argc, argv); }
