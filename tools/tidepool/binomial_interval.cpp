#include "binomial_interval.hpp"

#include <cmath>

namespace tool {
namespace {

constexpr double tail = 0.025;  // beyond each end

/// The probability of at most `events` in `runs` if that of one is `p`, which is neither 0 nor 1.
double at_most(std::uint64_t events, std::uint64_t runs, double p) {
  const auto n = static_cast<double>(runs);
  auto k = static_cast<double>(events);
  const double choices = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  double term = std::exp(choices + k * std::log(p) + (n - k) * std::log1p(-p));  // of exactly k
  // So small that a double has lost digits of it: the events lie far out in one tail or the other.
  if (term < 1e-290) return k > n * p ? 1 : 0;
  const double odds_against = (1 - p) / p;
  double sum = term;
  for (; k > 0 && sum < 1; --k) {
    term *= k / (n - k + 1) * odds_against;
    if (sum + term == sum)
      break;  // the terms grow up to the most likely number and shrink from there on, so none counts
    sum += term;
  }
  return sum;
}

/// The `p` for which at_most() is `wanted`. It falls as p grows.
double probability_where(std::uint64_t events, std::uint64_t runs, double wanted) {
  double low = 0;
  double high = 1;
  for (int step = 0; step != 100; ++step) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (at_most(events, runs, middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

probability_interval exact_interval(std::uint64_t events, std::uint64_t runs) {
  if (runs == 0) return {};
  return {events == 0 ? 0 : probability_where(events - 1, runs, 1 - tail),
          events == runs ? 1 : probability_where(events, runs, tail)};
}

}  // namespace tool
