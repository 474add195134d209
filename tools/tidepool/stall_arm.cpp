#include "stall_arm.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tool {
namespace {

using std::chrono::microseconds;
using removal = stall_arm::removal;

// More than it takes to warm a pool, so that the arm shows whether it is the thread that helps or the time.
constexpr microseconds delay{1000};

constexpr microseconds longest_spin{1'000'000};
constexpr std::string_view spin_prefix = "spin-";

const std::array<stall_arm, 5>& fixed_arms() {
  static const std::array<stall_arm, 5> arms{{
      {"cancel", removal::cancel},
      {"close", removal::close},
      {"drain", removal::drain},
      {"warm", removal::cancel, true},
      {"delay", removal::cancel, false, delay},
  }};
  return arms;
}

}  // namespace

std::optional<stall_arm> arm_named(std::string_view name) {
  const auto& fixed = fixed_arms();
  const auto found = std::find_if(fixed.begin(), fixed.end(), [&](const stall_arm& arm) { return arm.name == name; });
  if (found != fixed.end()) return *found;
  if (!name.starts_with(spin_prefix)) return {};
  const std::string_view number = name.substr(spin_prefix.size());
  microseconds::rep span = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), span);
  // What is not the shortest way to write the number would be a second name for the same arm.
  if (error != std::errc{} || std::to_string(span) != number || span < 0 || span > longest_spin.count()) return {};
  return stall_arm{std::string{name}, removal::close, false, {}, microseconds{span}};
}

std::vector<std::string> usual_arms() {
  std::vector<std::string> names;
  for (const stall_arm& arm : fixed_arms()) names.push_back(arm.name);
  for (const char* name : {"spin-5", "spin-20", "spin-100", "spin-1000"}) names.emplace_back(name);
  return names;
}

std::string names_of_arms() {
  std::string names;
  for (const stall_arm& arm : fixed_arms()) names += arm.name + ", ";
  names.replace(names.size() - 2, 2, " and ");
  return names + "spin-N with N from 0 to " + std::to_string(longest_spin.count());
}

}  // namespace tool
