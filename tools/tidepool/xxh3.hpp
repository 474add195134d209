#pragma once

#include <cstddef>

#include "sum_line.hpp"

namespace tool {

/// XXH3 with 128 bits, computed with the widest vectors that this machine has.
class xxh3_128 {
 public:
  xxh3_128() noexcept;
  void update(const std::byte* data, std::size_t size) noexcept;
  digest result() const noexcept;

 private:
  /// Room for the state of xxhash.h, which every set of instructions compiles for itself.
  alignas(64) unsigned char state_[576];
};

}  // namespace tool
