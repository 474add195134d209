#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "stall_trial.hpp"
#include "tidepool/event.hpp"
#include "tidepool/wait.hpp"

namespace tool {

/// What is to be tried, and how often.
struct stall_plan {
  std::vector<stall_arm> arms;
  std::uint32_t runs = 0;  ///< of each arm
  std::uint32_t jobs = 1;  ///< processes at the same time
  bool heal = false;
  std::chrono::milliseconds deadline{2000};
  std::optional<stall_fault> fault;

  [[nodiscard]] std::uint64_t all_runs() const { return std::uint64_t{runs} * arms.size(); }
};

/// How one run ended.
struct stall_run {
  enum class outcome {
    ran,        // the pool ran what came later
    late,       // the same, but so late that it was not as it should be
    recovered,  // the same, in an arm that has the pool repaired
    stalled,    // it did not within the time
    killed,     // the process did not come to its end, and was ended
    crashed     // it ended without a report
  };

  std::size_t arm = 0;
  std::uint32_t number = 0;  ///< from 1
  outcome what = outcome::ran;
  stall_report report;      ///< unless killed or crashed
  std::string description;  ///< if crashed: how
};

std::string name_of(stall_run::outcome what);

/// Carries out a plan, each run in a process of its own. The arms take turns, so that what changes on the machine
/// meanwhile changes for all. For the main thread.
class stall_runs {
 public:
  explicit stall_runs(stall_plan plan);
  stall_runs(const stall_runs&) = delete;
  stall_runs& operator=(const stall_runs&) = delete;
  /// Ends the processes that are under way.
  ~stall_runs();

  /// Starts what can be started and hands over what has ended: waits for at most `time` for something to end. Returns
  /// false when all is over. Throws std::system_error when a process cannot be started.
  bool advance(std::chrono::milliseconds time, const std::function<void(stall_run)>& deliver);

 private:
  class process;

  void start_next();
  stall_trial trial_of(std::uint64_t index) const;

  const stall_plan plan_;
  std::uint64_t started_ = 0;
  // Set by a wait's callback when its process has ended; automatic, so that the main thread looks through the processes
  // once for each time, or for several.
  tidepool::event something_ended_{tidepool::reset_mode::automatic};
  std::vector<std::unique_ptr<process>> under_way_;
};

}  // namespace tool
