// The positive control of a probe for the depth of completion ports.
#pragma once

#include <cstdint>
#include <string>

#include "tidepool/observation.hpp"

namespace tidepool::system {

/// Why depths can not be trusted, given what the probe has made of a port that holds `posted` packets. Empty when they can
/// be: a probe that is broken in any other way would read "depth 0" and make a stalled pool look healthy.
inline std::string objection_to_depths(std::uint64_t posted, bool port_is_listed,
                                       const observation<std::uint64_t>& seen) {
  if (!port_is_listed) {
    return "the port that depths are checked with is not found among the handles";
  }
  if (!seen) {
    return seen.why_not();
  }
  if (*seen != posted) {
    return "a port with " + std::to_string(posted) + " packets is seen with " + std::to_string(*seen);
  }
  return {};
}

}  // namespace tidepool::system
