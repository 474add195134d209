#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidepool/snapshot.hpp"

namespace tool {

/// One pool of a process, as its snapshot shows it. What the system did not tell is missing.
struct pool_facts {
  std::string kind;  ///< "default pool", "pool" where it is not known which
  std::optional<std::uint64_t> threads;
  std::optional<std::uint64_t> idle_threads;
  std::optional<bool> may_create;
  std::optional<bool> create_in_progress;
  std::optional<bool> scheduled;
  std::optional<std::uint64_t> port_depth;
  std::optional<bool> appears_stalled;

  friend bool operator==(const pool_facts&, const pool_facts&) = default;
};

/// The pools of a process, and its completion ports that cannot be assigned to one.
struct process_facts {
  std::vector<pool_facts> pools;
  std::vector<std::optional<std::uint64_t>> port_depths;
  std::string why_not;  ///< not empty: the system tells nothing of pools

  /// The pool with the fault, where it is known which that is.
  [[nodiscard]] const pool_facts* default_pool() const;

  friend bool operator==(const process_facts&, const process_facts&) = default;
};

process_facts facts_of(const tidepool::snapshot& seen);

/// One line for each pool, as people read it.
std::vector<std::string> lines_of(const process_facts& facts);

/// What was found out about a pool that had stalled.
struct stall_fingerprint {
  process_facts stalled;       ///< when the time was over
  bool packet_ran = false;     ///< another wait was set off then, and its callback ran within the same time
  process_facts after_packet;  ///< when it had run, or that time was over
  bool work_ran = false;       ///< a work item was submitted then, and ran within the same time
  bool all_ran = false;        ///< and so did all that was queued
  std::int64_t freed_us = 0;   ///< from the submission until all had run

  friend bool operator==(const stall_fingerprint&, const stall_fingerprint&) = default;
};

/// What a process tells about its run.
struct stall_report {
  bool removed = false;  ///< the callback that was queued never ran
  /// From the removal until the callback of a wait that was set off right after it; missing if that did not run in time.
  std::optional<std::int64_t> ran_after_us;
  std::optional<stall_fingerprint> fingerprint;  ///< then

  friend bool operator==(const stall_report&, const stall_report&) = default;
};

/// As text for the process that waits for it.
std::string to_text(const stall_report& report);

/// And back; nothing if it is not such a text.
std::optional<stall_report> report_from(std::string_view text);

}  // namespace tool
