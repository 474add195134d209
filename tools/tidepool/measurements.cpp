#include "measurements.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "tidepool/event.hpp"
#include "tidepool/timer.hpp"

namespace tool {
namespace {

using monotonic = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;
using nanoseconds = std::chrono::duration<double, std::nano>;

}  // namespace

timer_delays measure_timers() {
  constexpr unsigned number = 41;  // odd: the median is one of them
  constexpr std::chrono::milliseconds distance{2};
  tidepool::event fired{tidepool::reset_mode::automatic};
  monotonic::time_point came;
  tidepool::timer timer{[&] {
    came = monotonic::now();
    fired.set();
  }};
  std::vector<double> delays;
  unsigned early = 0;
  for (unsigned i = 0; i != number; ++i) {
    const monotonic::time_point due = monotonic::now() + distance;
    timer.set_after(distance);
    fired.wait();
    delays.push_back(std::max(microseconds{came - due}.count(), 0.0));
    early += came < due ? 1u : 0u;
  }
  timer.stop_and_drain();
  std::sort(delays.begin(), delays.end());
  return {number, early, delays[number / 2], delays.back()};
}

double measure_clock_read() {
  constexpr unsigned readings = 2000;
  constexpr unsigned rounds = 9;
  double best = std::numeric_limits<double>::infinity();  // of several rounds: what else runs only makes it slower
  for (unsigned round = 0; round != rounds; ++round) {
    const monotonic::time_point begin = monotonic::now();
    for (unsigned i = 1; i != readings; ++i) static_cast<void>(monotonic::now());
    best = std::min(best, nanoseconds{monotonic::now() - begin}.count() / readings);
  }
  return best;
}

std::uint64_t measure_clock_step() {
  constexpr unsigned steps = 100;
  std::chrono::nanoseconds smallest = std::chrono::nanoseconds::max();
  for (unsigned i = 0; i != steps; ++i) {
    const monotonic::time_point before = monotonic::now();
    monotonic::time_point after = before;
    while (after == before) after = monotonic::now();
    smallest = std::min(smallest, std::chrono::duration_cast<std::chrono::nanoseconds>(after - before));
  }
  return static_cast<std::uint64_t>(smallest.count());
}

}  // namespace tool
