// Where records are kept: a ring of segments, each of which one thread fills. docs/design/trace.md says why.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "trace/events.hpp"

namespace tidepool::recorder {

struct record {
  std::uint64_t time;  // of the steady clock, in nanoseconds
  std::uint32_t thread;
  kind what;
  action which;
  std::uint64_t target;
  std::uint64_t first;
  std::uint64_t second;
};

/// A record and where it stands: the number of its segment's content times the capacity, and its place there. Where two of one
/// thread have the same time, the later one has the larger place.
struct placed_record {
  std::uint64_t place;
  record what;
};

class segment {
 public:
  static constexpr std::uint32_t capacity = 64;

  /// Returns whether the segment is the caller's now. Acquire: pairs with give_up, after what its last owner wrote.
  [[nodiscard]] bool take() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void give_up() noexcept { taken_.store(false, std::memory_order_release); }

  // For the owner:
  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_full() const noexcept { return count() == capacity; }
  void append(const record& what) noexcept;
  /// Throws away what it holds. `number` is not 0, and another every time.
  void begin_anew(std::uint64_t number) noexcept;

  std::uint32_t thread = 0;          // whose segment it is; 0: of several
  std::atomic<bool> writing{false};  // relaxed: for whoever interrupts its owner on the same thread

  /// For anybody: adds the records, unless they are thrown away meanwhile.
  void copy_to(std::vector<placed_record>& out) const;

 private:
  static constexpr std::uint32_t words = 5;

  std::atomic<bool> taken_{false};
  // Which content it is; 0 while there is none. Changes before the content does, and is looked at before and after the
  // content is read.
  std::atomic<std::uint64_t> number_{0};
  std::atomic<std::uint32_t> count_{0};  // release: the records below it are whole
  std::array<std::array<std::atomic<std::uint64_t>, words>, capacity> records_{};
};

/// All there are.
inline constexpr std::uint32_t segment_count = 1024;
extern constinit std::array<segment, segment_count> segments;

/// The next segment that nobody fills, empty: the one among those that has been the longest without a new content. Null if
/// there is none.
[[nodiscard]] segment* take_next() noexcept;

/// All that is held, in the order of time. Others may record meanwhile.
[[nodiscard]] std::vector<record> copy_records();

/// Records that are gone, or could not be kept.
extern constinit std::atomic<std::uint64_t> lost;

}  // namespace tidepool::recorder
