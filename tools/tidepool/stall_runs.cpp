#include "stall_runs.hpp"

#include <fmt/format.h>

#include <atomic>

#include "stall_child.hpp"

namespace tool {
namespace {

// Beyond what the trial itself waits for: to start and to end on a machine that is busy.
constexpr std::chrono::seconds allowance{10};

/// A trial waits at most for the later callback, another packet, the work, and the two that it frees.
std::chrono::milliseconds longest_run(const stall_trial& trial) {
  return 5 * trial.deadline + std::chrono::duration_cast<std::chrono::milliseconds>(allowance + trial.arm.in_queue);
}

/// Scatters numbers that follow one another (the finalizer of SplitMix64).
std::uint64_t scattered(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

std::string name_of(stall_run::outcome what) {
  switch (what) {
    case stall_run::outcome::ran: return "ran";
    case stall_run::outcome::late: return "late";
    case stall_run::outcome::recovered: return "recovered";
    case stall_run::outcome::stalled: return "stalled";
    case stall_run::outcome::killed: return "killed";
    case stall_run::outcome::crashed: return "crashed";
  }
  return {};
}

/// A process under way, and the wait that sees its end, or that it takes too long.
class stall_runs::process {
 public:
  process(const stall_trial& trial, std::uint64_t position, const tidepool::event& something_ended)
      : index{position},
        heals_{trial.heal},
        something_ended_{something_ended},
        child_{child_arguments(trial)},
        wait_{child_.ended(), [this](tidepool::wait_activation& activation) { look(activation); }} {
    wait_.arm(longest_run(trial));
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process() { wait_.stop_and_drain(); }

  bool has_ended() const { return ended_.load(std::memory_order_acquire); }

  /// Once it has ended.
  stall_run result() {
    const child_process::ending ending = child_.collect();
    stall_run run;
    const std::optional<stall_report> report = report_from(ending.output);
    if (too_long_) {
      run.what = stall_run::outcome::killed;
    } else if (!ending.succeeded || !report) {
      run.what = stall_run::outcome::crashed;
      run.description = ending.succeeded ? "no report" : ending.description;
    } else {
      run.report = *report;
      run.what = outcome_of(*report);
    }
    return run;
  }

  const std::uint64_t index;

 private:
  void look(tidepool::wait_activation& activation) {
    if (activation.result() == tidepool::wait_result::timed_out) {
      too_long_ = true;
      child_.end();
      activation.rearm();
      return;
    }
    ended_.store(true, std::memory_order_release);
    something_ended_.set();
  }

  stall_run::outcome outcome_of(const stall_report& report) const {
    if (!report.ran_after_us) return stall_run::outcome::stalled;
    if (std::chrono::microseconds{*report.ran_after_us} < late_after) return stall_run::outcome::ran;
    return heals_ ? stall_run::outcome::recovered : stall_run::outcome::late;
  }

  const bool heals_;
  const tidepool::event something_ended_;
  bool too_long_ = false;           // by the callbacks, which do not overlap, and after them
  std::atomic<bool> ended_{false};  // release in the callback, acquire on the main thread, which then reads the rest
  child_process child_;
  tidepool::wait wait_;  // last: its callback uses what stands above
};

stall_runs::stall_runs(stall_plan plan) : plan_{std::move(plan)} {}

stall_runs::~stall_runs() = default;

stall_trial stall_runs::trial_of(std::uint64_t index) const {
  stall_trial trial;
  trial.arm = plan_.arms[index % plan_.arms.size()];
  trial.heal = plan_.heal && trial.arm.name == "cancel";
  trial.deadline = plan_.deadline;
  trial.fault = plan_.fault;
  if (trial.fault) trial.fault->seed = scattered(trial.fault->seed + index * 0x9e3779b97f4a7c15u);
  return trial;
}

void stall_runs::start_next() {
  under_way_.push_back(std::make_unique<process>(trial_of(started_), started_, something_ended_));
  ++started_;
}

bool stall_runs::advance(std::chrono::milliseconds time, const std::function<void(stall_run)>& deliver) {
  while (under_way_.size() < plan_.jobs && started_ < plan_.all_runs()) start_next();
  if (under_way_.empty()) return false;
  if (!something_ended_.wait_for(time)) return true;
  std::erase_if(under_way_, [&](const std::unique_ptr<process>& each) {
    if (!each->has_ended()) return false;
    stall_run run = each->result();
    run.arm = each->index % plan_.arms.size();
    run.number = static_cast<std::uint32_t>(each->index / plan_.arms.size() + 1);
    deliver(std::move(run));
    return true;
  });
  return true;
}

}  // namespace tool
