// tidepool stall-run: one run of `tidepool stall`, in a process of its own. Not for people.

#include "stall_child.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "child_process.hpp"
#include "standard_streams.hpp"
#include "subcommand.hpp"

namespace tool {
namespace {

struct child_options {
  std::string parent;
  std::string arm;
  bool heal = false;
  std::int64_t deadline_ms = 0;
  bool with_fault = false;
  std::int64_t window_us = 0;
  double probability = 0;
  std::uint64_t seed = 0;
};

int run_child(const child_options& options) {
  become_child(options.parent);
  const std::optional<stall_arm> arm = arm_named(options.arm);
  if (!arm) return exit_usage;
  stall_trial trial{*arm, options.heal, std::chrono::milliseconds{options.deadline_ms}, {}};
  if (options.with_fault) {
    trial.fault = stall_fault{std::chrono::microseconds{options.window_us}, options.probability, options.seed};
  }
  const bool told = !write_all(output_stream::out, to_text(carry_out(trial)));
  std::_Exit(told ? exit_success : exit_failure);
}

}  // namespace

std::vector<std::string> child_arguments(const stall_trial& trial) {
  std::vector<std::string> words{"stall-run",
                                 "--parent",
                                 own_identity(),
                                 "--arm",
                                 trial.arm.name,
                                 "--deadline",
                                 std::to_string(trial.deadline.count())};
  if (trial.heal) words.emplace_back("--heal");
  if (trial.fault) {
    words.insert(words.end(),
                 {"--fault", "--window", std::to_string(trial.fault->window.count()), "--probability",
                  fmt::format("{}", trial.fault->probability), "--seed", std::to_string(trial.fault->seed)});
  }
  return words;
}

void add_stall_run(CLI::App& app, chosen_command& chosen) {
  CLI::App* child = app.add_subcommand("stall-run", "One run of tidepool stall")->group("");  // not in the help
  auto options = std::make_shared<child_options>();
  child->add_option("--parent", options->parent)->required();
  child->add_option("--arm", options->arm)->required();
  child->add_option("--deadline", options->deadline_ms)->required();
  child->add_flag("--heal", options->heal);
  child->add_flag("--fault", options->with_fault);
  child->add_option("--window", options->window_us);
  child->add_option("--probability", options->probability);
  child->add_option("--seed", options->seed);
  child->callback([options, &chosen] { chosen = [options] { return run_child(*options); }; });
}

}  // namespace tool
