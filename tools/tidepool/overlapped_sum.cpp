#include "overlapped_sum.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "tidepool/error.hpp"

namespace tool {
namespace {

const std::error_code end_of_file{38, tidepool::win32_category()};  // ERROR_HANDLE_EOF

}  // namespace

overlapped_sum::overlapped_sum(tidepool::endpoint file, std::uint64_t size,
                               const tidepool::callback_environment& environment, file_count& done,
                               completion completed)
    : size_{size}, done_{done}, completed_{std::move(completed)}, io_{std::move(file), environment} {}

void overlapped_sum::start() noexcept {
  {
    const std::lock_guard lock{mutex_};
    is_hashing_ = true;  // until the first parts have been asked for, nobody else may conclude
  }
  hash_what_is_there();
}

/// With the mutex held, by the thread that hashes, for a part that is free. Without the mutex it may do all the reading
/// there and then.
void overlapped_sum::read_one_more(std::unique_lock<std::mutex>& lock) noexcept {
  const std::uint64_t index = next_to_read_++;
  part& into = part_of(index);
  const std::uint64_t offset = index * part_size;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(part_size, size_ - offset));
  ++being_read_;
  into.has_been_read = false;
  tidepool::buffer bytes = std::move(into.bytes);
  lock.unlock();
  bool begun = true;
  try {
    io_.read_at(offset, std::move(bytes), wanted,
                [this, index](tidepool::transfer<>& transfer) noexcept { note_read(index, transfer); });
  } catch (const std::bad_alloc&) {
    begun = false;
  }
  lock.lock();
  if (!begun) {
    --being_read_;
    error_ = std::make_error_code(std::errc::not_enough_memory);
  }
}

void overlapped_sum::note_read(std::uint64_t index, tidepool::transfer<>& transfer) noexcept {
  {
    const std::lock_guard lock{mutex_};
    --being_read_;
    part& its = part_of(index);
    its.bytes = std::move(transfer.buffer);
    its.count = transfer.bytes;
    its.has_been_read = true;
    if (transfer.error && transfer.error != end_of_file && !is_over_ && !error_) error_ = transfer.error;
    if (std::exchange(is_hashing_, true)) return;  // whoever hashes looks again before it stops
  }
  hash_what_is_there();
}

/// Hashes parts in their order, as far as they have been read, and has others read in their place. By one thread at a
/// time. Concludes when nothing is being read any more.
void overlapped_sum::hash_what_is_there() noexcept {
  std::unique_lock lock{mutex_};
  for (;;) {
    while (!is_over_ && !error_ && next_to_read_ < part_count() && next_to_read_ < next_to_hash_ + parts_at_once) {
      read_one_more(lock);
    }
    part& next = part_of(next_to_hash_);
    if (error_ || is_over_ || next_to_hash_ >= next_to_read_ || !next.has_been_read) break;
    next.has_been_read = false;
    lock.unlock();
    hash_.update(next.bytes.data(), next.count);
    done_.add_bytes(next.count);
    lock.lock();
    ++next_to_hash_;
    is_over_ = next_to_hash_ == part_count() || next.count < part_size;
  }
  is_hashing_ = false;
  const bool concludes = (is_over_ || error_) && being_read_ == 0;
  if (!concludes) return;
  const std::error_code error = error_;
  for (part& each : parts_) each.bytes = tidepool::buffer{0};  // the object may be kept for a while
  lock.unlock();
  if (!error) done_.add_file();
  completed_(error, error ? digest{} : hash_.result());
}

}  // namespace tool
