#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <vector>

#include "progress.hpp"
#include "tidepool/callback_environment.hpp"
#include "tidepool/io.hpp"
#include "xxh3.hpp"

namespace tool {

/// Sums one large file: some parts of it are being read while another one is hashed, on whichever threads of the pool
/// are free. Memory does not depend on the file's size.
class overlapped_sum {
 public:
  static constexpr std::size_t part_size = std::size_t{256} * 1024;
  static constexpr std::size_t parts_at_once = 2;
  /// Smaller files are read in a few calls, by one thread: less than starting several would cost.
  static constexpr std::uint64_t smallest = 4 * part_size;

  /// Called once, on a thread of the pool, and last: inside it the object must not be destroyed, but outside it may be
  /// from then on.
  using completion = std::function<void(std::error_code, const digest&)>;

  /// Sums the first `size` bytes, or those up to the file's end if it has become shorter. Throws std::system_error and
  /// std::bad_alloc.
  overlapped_sum(tidepool::endpoint file, std::uint64_t size, const tidepool::callback_environment& environment,
                 file_count& done, completion completed);
  overlapped_sum(const overlapped_sum&) = delete;
  overlapped_sum& operator=(const overlapped_sum&) = delete;
  ~overlapped_sum() { io_.run_down(); }

  /// Never throws: what goes wrong is what the completion is given.
  void start() noexcept;

 private:
  struct part {
    tidepool::buffer bytes{part_size};
    std::size_t count = 0;
    bool has_been_read = false;
  };

  void read_one_more(std::unique_lock<std::mutex>& lock) noexcept;
  void note_read(std::uint64_t index, tidepool::transfer<>& transfer) noexcept;
  void hash_what_is_there() noexcept;
  [[nodiscard]] std::uint64_t part_count() const noexcept { return (size_ + part_size - 1) / part_size; }
  part& part_of(std::uint64_t index) noexcept { return parts_[index % parts_at_once]; }

  const std::uint64_t size_;
  file_count& done_;
  const completion completed_;

  std::mutex mutex_;
  // Guarded by the mutex.
  std::array<part, parts_at_once> parts_;  // given up at the end
  std::uint64_t next_to_read_ = 0;
  std::size_t being_read_ = 0;
  bool is_hashing_ = false;  // some thread is; the hash and what follows is its own meanwhile
  bool is_over_ = false;     // nothing more is read: the end, or an error
  std::error_code error_;

  std::uint64_t next_to_hash_ = 0;
  xxh3_128 hash_;

  tidepool::io io_;  // last: its end waits for handlers, which use the rest
};

}  // namespace tool
