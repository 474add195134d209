// Counts what is taken from the heap, to show what takes nothing.
#pragma once

#include <cstddef>

#include "sanitizers.hpp"

namespace safe {

/// Allocations are not counted where a sanitizer has replaced the heap.
inline constexpr bool allocations_are_counted = !under_sanitizer;

/// Counts the allocations between its construction and a call of count().
class allocation_count {
 public:
  /// Those of all threads, or of the calling one only. By way of operator new everywhere, and of malloc where it can
  /// be replaced (glibc).
  enum class of { this_thread, all_threads };

  explicit allocation_count(of whose);
  [[nodiscard]] std::size_t count() const;
  /// The size of the largest one.
  [[nodiscard]] std::size_t largest() const;

 private:
  of whose_;
  std::size_t before_;
};

}  // namespace safe
