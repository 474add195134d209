#pragma once

#include <cstdint>

namespace tool {

/// How late the pool's timers come.
struct timer_delays {
  unsigned measured;
  unsigned early;  // came before they were due, which must not be
  double median_us;
  double worst_us;
};

/// Sets timers on the default pool, one after the other. Takes a tenth of a second, more where timers are late.
timer_delays measure_timers();

/// What reading the monotonic clock once costs, in nanoseconds.
double measure_clock_read();

/// The smallest difference that was seen between two readings of it that differ, in nanoseconds.
std::uint64_t measure_clock_step();

}  // namespace tool
