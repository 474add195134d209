// Memory for a transfer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace tidepool {

/// A number of bytes that somebody owns. They are not initialised, and stay where they are when the buffer is moved.
///
/// Any other owner of its elements will do for a transfer as well: a type with data() and size() that can be moved,
/// such as std::vector<std::byte>, std::string or std::array.
///
/// Thread safety: as for int. A moved-from buffer is empty.
class buffer {
 public:
  buffer() noexcept = default;

  /// `size` may be zero. Throws std::bad_alloc. Costs one allocation.
  explicit buffer(std::size_t size) : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}

  buffer(buffer&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    if (this != &other) {
      bytes_ = std::move(other.bytes_);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }

  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() = default;

  [[nodiscard]] std::byte* data() noexcept { return bytes_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.get(); }

  /// In bytes.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }

  [[nodiscard]] std::byte* begin() noexcept { return data(); }
  [[nodiscard]] std::byte* end() noexcept { return data() + size_; }
  [[nodiscard]] const std::byte* begin() const noexcept { return data(); }
  [[nodiscard]] const std::byte* end() const noexcept { return data() + size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace tidepool
