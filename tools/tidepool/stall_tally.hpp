#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stall_runs.hpp"

namespace tool {

/// What came of a plan's runs, in numbers and as people read it.
class stall_tally {
 public:
  explicit stall_tally(stall_plan plan);

  void add(const stall_run& run);

  [[nodiscard]] std::uint64_t runs() const;
  [[nodiscard]] std::uint64_t stalled() const;
  /// Of processes that were killed, or crashed.
  [[nodiscard]] std::uint64_t broken() const;

  /// The table, the first stalled processes, and what follows from it all.
  [[nodiscard]] std::string text() const;

 private:
  struct numbers {
    std::uint64_t reported = 0;  // runs that came to a report: what rates refer to
    std::uint64_t removed = 0;
    std::uint64_t stalled = 0;
    std::uint64_t late = 0;
    std::uint64_t killed = 0;
    std::uint64_t crashed = 0;
    std::vector<std::int64_t> recovered_us;
  };

  std::string table() const;
  std::string recoveries() const;
  std::string crashes() const;
  std::string fingerprints() const;
  std::string conclusion() const;

  const stall_plan plan_;
  std::vector<numbers> arms_;
  std::vector<stall_run> first_stalled_;
  std::vector<stall_run> first_crashed_;
  // Of all stalled runs:
  std::uint64_t freed_by_packet_ = 0;
  std::vector<std::int64_t> freed_by_work_us_;
};

}  // namespace tool
