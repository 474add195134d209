#include "stall_tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "binomial_interval.hpp"

namespace tool {
namespace {

constexpr std::size_t most_shown = 3;  // of the stalled processes

// What was measured on Windows, in docs/design/heal.md.
constexpr double measured_rate = 0.004;

std::string percent(double probability) { return fmt::format("{:.3g} %", probability * 100); }

std::string interval_text(std::uint64_t events, std::uint64_t runs) {
  if (runs == 0) return "nothing known";
  const probability_interval interval = exact_interval(events, runs);
  if (events == 0) return "at most " + percent(interval.high);
  if (events == runs) return "at least " + percent(interval.low);
  return percent(interval.low) + " to " + percent(interval.high);
}

std::string span_text(std::int64_t microseconds) {
  if (microseconds < 1000) return fmt::format("{} us", microseconds);
  return fmt::format("{:.1f} ms", static_cast<double>(microseconds) / 1000);
}

/// "after 260.3 ms (median), 502.0 ms at most". There is at least one.
std::string spread_text(std::vector<std::int64_t> spans) {
  std::sort(spans.begin(), spans.end());
  return fmt::format("after {} (median), {} at most", span_text(spans[(spans.size() - 1) / 2]),
                     span_text(spans.back()));
}

struct column {
  std::string head;
  std::vector<std::string> cells;
  bool to_the_left = false;
};

std::string aligned(const std::vector<column>& columns, std::size_t rows) {
  std::string text;
  for (std::size_t row = 0; row <= rows; ++row) {  // the first one is the heads
    std::string line;
    for (const column& each : columns) {
      std::size_t width = each.head.size();
      for (const std::string& cell : each.cells) width = std::max(width, cell.size());
      const std::string& cell = row == 0 ? each.head : each.cells[row - 1];
      if (!line.empty()) line += "  ";
      line += each.to_the_left ? fmt::format("{:<{}}", cell, width) : fmt::format("{:>{}}", cell, width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string indented(const process_facts& facts) {
  std::string text;
  for (const std::string& line : lines_of(facts)) text += "    " + line + "\n";
  return text;
}

}  // namespace

stall_tally::stall_tally(stall_plan plan) : plan_{std::move(plan)}, arms_(plan_.arms.size()) {}

void stall_tally::add(const stall_run& run) {
  using outcome = stall_run::outcome;
  numbers& arm = arms_[run.arm];
  switch (run.what) {
    case outcome::ran: break;
    case outcome::late: ++arm.late; break;
    case outcome::recovered: arm.recovered_us.push_back(run.report.ran_after_us.value_or(0)); break;
    case outcome::stalled: {
      ++arm.stalled;
      const stall_fingerprint found = run.report.fingerprint.value_or(stall_fingerprint{});
      if (found.packet_ran) ++freed_by_packet_;
      if (found.all_ran && !found.packet_ran) freed_by_work_us_.push_back(found.freed_us);
      if (first_stalled_.size() < most_shown) first_stalled_.push_back(run);
      break;
    }
    case outcome::killed: ++arm.killed; return;
    case outcome::crashed:
      ++arm.crashed;
      if (first_crashed_.size() < most_shown) first_crashed_.push_back(run);
      return;
  }
  ++arm.reported;
  if (run.report.removed) ++arm.removed;
}

std::uint64_t stall_tally::runs() const {
  std::uint64_t sum = broken();
  for (const numbers& arm : arms_) sum += arm.reported;
  return sum;
}

std::uint64_t stall_tally::stalled() const {
  std::uint64_t sum = 0;
  for (const numbers& arm : arms_) sum += arm.stalled;
  return sum;
}

std::uint64_t stall_tally::broken() const {
  std::uint64_t sum = 0;
  for (const numbers& arm : arms_) sum += arm.killed + arm.crashed;
  return sum;
}

std::string stall_tally::text() const {
  return table() + recoveries() + crashes() + fingerprints() + "\n" + conclusion();
}

std::string stall_tally::table() const {
  std::vector<column> columns;
  const auto add = [&](const char* head, const auto& cell, bool to_the_left = false) {
    column made{head, {}, to_the_left};
    for (std::size_t i = 0; i != arms_.size(); ++i) made.cells.push_back(cell(plan_.arms[i], arms_[i]));
    columns.push_back(std::move(made));
  };
  // A column that is nothing but zeros is left out.
  const auto add_if_any = [&](const char* head, const auto& number) {
    if (std::any_of(arms_.begin(), arms_.end(), [&](const numbers& of) { return number(of) != 0; })) {
      add(head, [&](const stall_arm&, const numbers& of) { return std::to_string(number(of)); });
    }
  };
  add("arm", [](const stall_arm& arm, const numbers&) { return arm.name; }, true);
  add("stalled", [](const stall_arm&, const numbers& of) { return std::to_string(of.stalled); });
  add("runs", [](const stall_arm&, const numbers& of) { return std::to_string(of.reported); });
  add("removed", [](const stall_arm&, const numbers& of) { return std::to_string(of.removed); });
  add_if_any("recovered", [](const numbers& of) { return of.recovered_us.size(); });
  add_if_any("late", [](const numbers& of) { return of.late; });
  add_if_any("killed", [](const numbers& of) { return of.killed; });
  add_if_any("crashed", [](const numbers& of) { return of.crashed; });
  add("rate", [](const stall_arm&, const numbers& of) {
    return of.reported == 0 ? "-" : percent(static_cast<double>(of.stalled) / static_cast<double>(of.reported));
  });
  add(
      "95 % interval", [](const stall_arm&, const numbers& of) { return interval_text(of.stalled, of.reported); },
      true);
  return aligned(columns, arms_.size());
}

std::string stall_tally::recoveries() const {
  std::string text;
  for (std::size_t i = 0; i != arms_.size(); ++i) {
    if (arms_[i].recovered_us.empty()) continue;
    text += fmt::format("\n{}: {} had stalled and recovered, {}\n", plan_.arms[i].name, arms_[i].recovered_us.size(),
                        spread_text(arms_[i].recovered_us));
  }
  return text;
}

std::string stall_tally::crashes() const {
  std::string text;
  for (const stall_run& run : first_crashed_) {
    text += fmt::format("\n{}, run {}: crashed: {}\n", plan_.arms[run.arm].name, run.number, run.description);
  }
  return text;
}

std::string stall_tally::fingerprints() const {
  std::string text;
  for (const stall_run& run : first_stalled_) {
    const stall_fingerprint found = run.report.fingerprint.value_or(stall_fingerprint{});
    text += fmt::format("\n{}, run {}: stalled\n", plan_.arms[run.arm].name, run.number);
    text += fmt::format("  after {} ms:\n{}", plan_.deadline.count(), indented(found.stalled));
    text += fmt::format("  another packet, which {}:\n{}", found.packet_ran ? "ran" : "did not run",
                        indented(found.after_packet));
    text += found.work_ran ? "  a work item, which ran" : "  a work item, which did not run";
    text += found.all_ran ? fmt::format("; all had run {} after its submission\n", span_text(found.freed_us))
                          : std::string{"; the rest did not\n"};
  }
  if (stalled() != 0) {
    text += fmt::format("\nOf {} that stalled, another packet set {} going, and a work item {}", stalled(),
                        freed_by_packet_, freed_by_work_us_.size());
    if (!freed_by_work_us_.empty()) text += ", " + spread_text(freed_by_work_us_);
    text += ".\n";
  }
  return text;
}

std::string stall_tally::conclusion() const {
  std::uint64_t hit = 0;      // in arms that remove what is queued on a pool that has no thread
  std::uint64_t removed = 0;  // the same
  const numbers* drain = nullptr;
  for (std::size_t i = 0; i != arms_.size(); ++i) {
    const stall_arm& arm = plan_.arms[i];
    if (arm.by == stall_arm::removal::drain) {
      drain = &arms_[i];
    } else if (!arm.warm) {
      hit += arms_[i].stalled + arms_[i].recovered_us.size();
      removed += arms_[i].removed;
    }
  }
  std::string text;
  if (hit != 0) {
    text = plan_.fault ? "The fault that was injected is seen: " : "This system has the fault: ";
    text += "a pool without a thread can stall for good when a queued wait is removed from it.\n";
  } else if (removed != 0) {
    const double seen = 1 - std::pow(1 - measured_rate, static_cast<double>(removed));
    text = fmt::format(
        "No stall in {} removals. If there were 4 in 1,000, one would have been seen with a probability of {}.\n",
        removed, percent(std::min(seen, 0.999)));  // certain it never is
  }
  if (drain != nullptr && drain->stalled != 0) {
    text += "tidepool's teardown (drain) stalled as well.\n";
  } else if (drain != nullptr && drain->reported != 0) {
    text += fmt::format("tidepool's teardown (drain) did not stall in {} runs.\n", drain->reported);
  }
  return text;
}

}  // namespace tool
