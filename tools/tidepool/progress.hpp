#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "glob.hpp"
#include "tidepool/work.hpp"

namespace tool {

/// A count of files and of the bytes in them. Raised on one thread and read on another, as figures for a person:
/// nothing is published with them, so every access is relaxed.
class file_count {
 public:
  void add_file() noexcept { files_.fetch_add(1, std::memory_order_relaxed); }
  void add_bytes(std::uint64_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t files() const noexcept { return files_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> files_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

/// What there is to sum.
struct walk_plan {
  std::vector<std::string> roots;
  exclusions excluded;
  bool follow_folder_links = true;
};

struct progress_figures {
  std::uint64_t files_done = 0;
  std::uint64_t bytes_done = 0;
  std::uint64_t files_found = 0;
  std::uint64_t bytes_found = 0;
  bool all_found = false;  ///< the two figures above are totals
  double seconds = 0;
};

/// The bar as one line of at most `width` columns: with a bar and a percentage once the totals are known.
std::string progress_line(const progress_figures& figures, int width);

/// "1.2 GiB" and the like.
std::string size_text(std::uint64_t bytes);

/// Draws the progress of a run at the foot of standard error, at most ten times a second. Nothing knows the totals
/// at the start, so a callback on the default pool walks the plan too and counts. For one thread; the counts are raised
/// by others.
class progress {
 public:
  progress(console& on, const walk_plan& plan, const file_count& done);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// Draws if it is time to.
  void tick();

  static constexpr std::chrono::milliseconds interval{100};

 private:
  void count_plan();

  console& console_;
  const walk_plan& plan_;
  const file_count& done_;
  file_count found_;
  // Release after the last count, acquire before the counts are shown as totals: whoever sees it true sees them all.
  std::atomic<bool> all_found_{false};
  std::atomic<bool> given_up_{false};  // relaxed: asks the count to end early, nothing hangs on when it is seen
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point next_draw_;

  tidepool::work counting_;
};

}  // namespace tool
