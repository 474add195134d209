// What is measured, and sums over it.
#pragma once

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

struct metric {
  std::string name;
  std::string unit;
  double value;
};

inline double nanoseconds(clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

// The processor time of all threads of this process so far.
inline double processor_nanoseconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

inline double percentile(const std::vector<double>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

// Adds the median and the 99th percentile of `values`, when there are any that say something.
inline void report_percentiles(std::vector<metric>& result, const std::string& suffix, std::vector<double> values) {
  constexpr std::size_t fewest = 10;  // fewer say nothing about a median
  if (values.size() >= fewest) {
    std::sort(values.begin(), values.end());
    result.push_back({"p50" + suffix, "ns", percentile(values, 0.5)});
    result.push_back({"p99" + suffix, "ns", percentile(values, 0.99)});
  }
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return percentile(values, 0.5);
}

}  // namespace bench
