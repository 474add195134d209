#pragma once

#include <cstdint>
#include <vector>

#include "machine.hpp"
#include "measurements.hpp"
#include "report.hpp"

namespace tool {

/// What is bad for tidepool on this machine. `most_threads`: of a pool, unless the program sets another maximum.
std::vector<report::warning> advice(const machine& here, std::uint32_t most_threads, const timer_delays& timers,
                                    double clock_read_ns);

}  // namespace tool
