#pragma once

#include <cstdint>

namespace tool {

/// Where a probability lies, given what was seen of it.
struct probability_interval {
  double low = 0;
  double high = 1;
};

/// The exact interval of Clopper and Pearson for the probability of an event that was seen `events` times in `runs`
/// independent runs: it contains the true one in at least 95 of 100 cases, however rare the event. With no event the low
/// end is 0, with nothing but events the high end is 1. Nothing is known after no run. Costs up to `runs` steps, a hundred
/// times over.
probability_interval exact_interval(std::uint64_t events, std::uint64_t runs);

}  // namespace tool
