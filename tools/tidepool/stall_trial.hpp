#pragma once

#include <chrono>
#include <optional>

#include "stall_arm.hpp"
#include "stall_fault.hpp"
#include "stall_report.hpp"

namespace tool {

/// What one process is to try.
struct stall_trial {
  stall_arm arm;
  bool heal = false;  ///< arms that cancel do it by try_cancel_pending(), and so have the pool repaired
  std::chrono::milliseconds deadline{2000};
  std::optional<stall_fault> fault;
};

/// The earliest that a pool can be repaired is a quarter of a second after the removal. What runs before this ran by itself.
inline constexpr std::chrono::milliseconds late_after{200};

/// Tries it, in a process that has not used the default pool yet, and that is to be ended without destroying anything:
/// what has been made on a pool that has stalled for good is left as it is, since to drain it would take for ever. Throws
/// what making objects throws.
stall_report carry_out(const stall_trial& trial);

}  // namespace tool
