#include "stall_csv.hpp"

#include <fmt/format.h>

namespace tool {

void stall_csv::add(const stall_run& run) {
  using outcome = stall_run::outcome;
  const auto number = [](const auto& known) { return known ? std::to_string(*known) : std::string{}; };
  text_ += fmt::format("{},{},{},", plan_.arms[run.arm].name, run.number, name_of(run.what));
  const bool reported = run.what != outcome::killed && run.what != outcome::crashed;
  text_ += reported ? fmt::format("{:d},{},", run.report.removed, number(run.report.ran_after_us)) : ",,";
  if (const auto& found = run.report.fingerprint) {
    const auto depth = [&](const process_facts& facts) {
      const pool_facts* pool = facts.default_pool();
      return pool != nullptr ? number(pool->port_depth) : std::string{};
    };
    text_ += fmt::format("{},{},{:d},{:d},{:d},{},", depth(found->stalled), depth(found->after_packet),
                         found->packet_ran, found->work_ran, found->all_ran, found->freed_us);
  } else {
    text_ += ",,,,,,";
  }
  text_ += run.description + "\n";
}

}  // namespace tool
