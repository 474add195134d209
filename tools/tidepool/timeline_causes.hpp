#pragma once

#include <cstdint>
#include <vector>

#include "timeline_model.hpp"

namespace tool {

/// Something that was due from `begin` on, until its callback began (`entered`), it was dropped, or the capture ended.
struct due_interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool entered = false;
};

/// Finds for each callback what made it begin: fills in `flows`, and `due` and `reason` of the spans. The result says
/// when anything was due.
std::vector<due_interval> match_causes(const capture& source, timeline& lines);

/// Finds the stalls.
void find_stalls(std::vector<due_interval> due, timeline& lines);

}  // namespace tool
