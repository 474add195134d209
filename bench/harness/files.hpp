// H: 4 KiB reads at random from a file in the page cache, 64 in flight.
//
//   class some_files {
//    public:
//     static constexpr const char* name = "some_library";
//     some_files(const plan&, int file);                   // with threads, placed by the plan; the descriptor stays
//                                                          //   the caller's and outlives this
//     void start(std::span<read_chain> chains);            // starts the first read of each; every later one is started
//   };                                                     //   by what read_chain::completed() is handed
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "placement.hpp"
#include "tally.hpp"

namespace bench {

constexpr std::size_t read_size = 4096;
constexpr std::size_t reads_in_flight = 64;

struct alignas(read_size) page {
  std::array<std::byte, read_size> bytes;
};

// A file that has no name, all of it in the page cache. Each block begins with its number.
class cached_file {
 public:
  explicit cached_file(std::uint64_t blocks)
      : blocks_(blocks),
        file_(open(std::filesystem::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    if (file_ < 0) {
      fail("a temporary file could not be made");
    }
    std::vector<page> some(256);
    for (std::uint64_t block = 0; block < blocks; block += some.size()) {
      for (std::size_t i = 0; i < some.size(); ++i) {
        const std::uint64_t number = block + i;
        std::memcpy(some[i].bytes.data(), &number, sizeof number);
      }
      transfer([&](void* data, std::size_t size, off_t at) { return pwrite(file_, data, size, at); }, some, block);
    }
    for (std::uint64_t block = 0; block < blocks; block += some.size()) {
      transfer([&](void* data, std::size_t size, off_t at) { return pread(file_, data, size, at); }, some, block);
    }
  }
  ~cached_file() { close(file_); }
  cached_file(const cached_file&) = delete;
  cached_file& operator=(const cached_file&) = delete;

  [[nodiscard]] int get() const noexcept { return file_; }
  [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_; }

 private:
  [[noreturn]] static void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

  template <class Call>
  static void transfer(Call call, std::vector<page>& pages, std::uint64_t block) {
    const std::size_t size = pages.size() * read_size;
    if (call(pages.data(), size, static_cast<off_t>(block * read_size)) != static_cast<ssize_t>(size)) {
      fail("the temporary file could not be written and read");
    }
  }

  std::uint64_t blocks_;
  int file_;
};

// One of the reads in flight, and those that follow it: each is started when the one before has ended.
class alignas(128) read_chain {
 public:
  void begin(std::uint64_t seed, std::uint64_t reads, std::uint64_t blocks, page& into) noexcept {
    random_ = seed;
    left_ = reads;
    blocks_ = blocks;
    into_ = &into;
    choose();
  }

  [[nodiscard]] std::uint64_t offset() const noexcept { return block_ * read_size; }
  [[nodiscard]] std::byte* buffer() const noexcept { return into_->bytes.data(); }  // for who has no other

  // The body of every completion; `start(*this)` starts the next read.
  template <class Start>
  void completed(const std::byte* data, std::size_t size, Start start) {
    std::uint64_t number = 0;
    if (size == read_size) {
      std::memcpy(&number, data, sizeof number);
    }
    if (size != read_size || number != block_) {
      std::fprintf(stderr, "a read of block %ju brought %zu bytes, of block %ju\n", static_cast<std::uintmax_t>(block_),
                   size, static_cast<std::uintmax_t>(number));
      std::abort();
    }
    if (--left_ > 0) {
      choose();
      start(*this);
    }
    callbacks.hit();  // last: with the last hit the run is over
  }

 private:
  // xorshift64*, whose upper half is scaled to the number of blocks.
  void choose() noexcept {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    block_ = ((random_ * 0x2545F4914F6CDD1DULL) >> 32) * blocks_ >> 32;
  }

  std::uint64_t random_ = 1;
  std::uint64_t left_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t block_ = 0;
  page* into_ = nullptr;
};

// `times` reads in each of the chains.
template <class Files>
clock::duration read_at_random(Files& files, const cached_file& file, const plan& how, std::uint64_t times) {
  static std::vector<page> pages(reads_in_flight);
  std::vector<read_chain> chains(reads_in_flight);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i].begin(0x9E3779B97F4A7C15ULL * (i + 1), times, file.blocks(), pages[i]);
  }
  callbacks.expect(reads_in_flight * times);
  clock::time_point begin, end;
  std::jthread submitter([&] {
    how.place_submitter(0);
    begin = clock::now();
    files.start(chains);
    callbacks.wait();
    end = clock::now();
  });
  submitter.join();
  return end - begin;
}

}  // namespace bench
