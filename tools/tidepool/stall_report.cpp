#include "stall_report.hpp"

#include <fmt/format.h>

#include <algorithm>

// How the library wants to be told of a type that it does not know.
NLOHMANN_JSON_NAMESPACE_BEGIN
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& from) {
    if (from) {
      to = *from;
    } else {
      to = nullptr;
    }
  }
  static void from_json(const json& from, std::optional<T>& to) {
    to = from.is_null() ? std::optional<T>{} : std::optional<T>{from.get<T>()};
  }
};
NLOHMANN_JSON_NAMESPACE_END

namespace tool {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(pool_facts, kind, threads, idle_threads, may_create, create_in_progress, scheduled,
                                   port_depth, appears_stalled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(process_facts, pools, port_depths, why_not)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(stall_fingerprint, stalled, packet_ran, after_packet, work_ran, all_ran, freed_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(stall_report, removed, ran_after_us, fingerprint)

namespace {

using tidepool::observation;

template <class T>
std::optional<T> known(const observation<T>& seen) {
  return seen ? std::optional<T>{*seen} : std::nullopt;
}

std::string name_of(const observation<tidepool::pool_kind>& kind) {
  if (!kind) return "pool";
  switch (*kind) {
    case tidepool::pool_kind::process_default: return "default pool";
    case tidepool::pool_kind::own: return "own pool";
    case tidepool::pool_kind::internal: return "internal pool";
  }
  return "pool";
}

std::string shown(const std::optional<std::uint64_t>& number) { return number ? std::to_string(*number) : "?"; }

std::string shown(const std::optional<bool>& fact) { return fact ? (*fact ? "yes" : "no") : "?"; }

}  // namespace

const pool_facts* process_facts::default_pool() const {
  const auto is_default = [](const pool_facts& pool) { return pool.kind == "default pool"; };
  const auto found = std::find_if(pools.begin(), pools.end(), is_default);
  return found != pools.end() ? &*found : nullptr;
}

process_facts facts_of(const tidepool::snapshot& seen) {
  process_facts facts;
  facts.why_not = seen.pools.why_not();
  if (seen.pools) {
    for (const tidepool::pool_snapshot& pool : *seen.pools) {
      facts.pools.push_back({name_of(pool.kind), known(pool.threads), known(pool.idle_threads), known(pool.may_create),
                             known(pool.create_in_progress), known(pool.scheduled), known(pool.port_depth),
                             known(pool.appears_stalled())});
    }
  }
  if (seen.ports) {
    for (const tidepool::port_snapshot& port : *seen.ports) facts.port_depths.push_back(known(port.depth));
  }
  return facts;
}

std::vector<std::string> lines_of(const process_facts& facts) {
  std::vector<std::string> lines;
  for (const pool_facts& pool : facts.pools) {
    lines.push_back(fmt::format(
        "{}: port depth {}, threads {}, idle {}, may create {}, creating {}, scheduled {}, "
        "appears stalled {}",
        pool.kind, shown(pool.port_depth), shown(pool.threads), shown(pool.idle_threads), shown(pool.may_create),
        shown(pool.create_in_progress), shown(pool.scheduled), shown(pool.appears_stalled)));
  }
  if (!facts.why_not.empty()) lines.push_back("pools: not available here: " + facts.why_not);
  if (!facts.port_depths.empty()) {
    std::string line = "other completion ports: depth";
    for (const auto& depth : facts.port_depths) line.append(" ").append(shown(depth));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string to_text(const stall_report& report) { return nlohmann::json(report).dump(); }

std::optional<stall_report> report_from(std::string_view text) {
  try {
    return nlohmann::json::parse(text).get<stall_report>();
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace tool
