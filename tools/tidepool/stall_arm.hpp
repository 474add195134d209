#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// One way to take a queued wait away from a pool. In every arm a wait is armed for an event, the event is set, so that
/// the wait is queued on the default pool, and the wait is disarmed; then they differ.
struct stall_arm {
  enum class removal {
    cancel,  // WaitForThreadpoolWaitCallbacks(TRUE), then the close
    close,   // CloseThreadpoolWait and nothing before it
    drain    // tidepool's destructor, which removes nothing
  };

  std::string name;
  removal by = removal::cancel;
  bool warm = false;                      ///< the pool has had something to run before
  std::chrono::microseconds before{0};    ///< spun before the wait is made
  std::chrono::microseconds in_queue{0};  ///< spun between the disarming and the removal
};

/// The arm of this name; nothing when there is none.
std::optional<stall_arm> arm_named(std::string_view name);

/// Those that run when nobody says which.
std::vector<std::string> usual_arms();

/// "cancel, close, drain, warm, delay and spin-N"
std::string names_of_arms();

}  // namespace tool
