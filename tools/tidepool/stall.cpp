// tidepool stall: whether the thread pool here can stall when a queued wait is removed.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "command_line.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "output_file.hpp"
#include "progress_bar.hpp"
#include "stall_csv.hpp"
#include "stall_runs.hpp"
#include "stall_tally.hpp"
#include "subcommand.hpp"
#include "sum_line.hpp"

namespace tool {
namespace {

using monotonic = std::chrono::steady_clock;

constexpr std::uint32_t most_runs = 1'000'000;
constexpr std::uint32_t most_jobs = 256;
constexpr std::chrono::milliseconds interval{100};  // between two looks at Ctrl-C, and two drawings of the progress

constexpr bool heals =
#ifdef TIDEPOOL_NO_SELF_HEAL
    false;
#else
    true;
#endif

struct stall_options {
  std::vector<std::string> arms = usual_arms();
  std::uint32_t runs = 1000;
  std::uint32_t jobs = std::clamp(std::thread::hardware_concurrency(), 1u, most_jobs);
  std::uint32_t deadline_ms = 2000;
  std::string csv;
  std::string heal = "off";
  std::string progress = "auto";
  stall_fault fault;
  std::uint32_t window_us = static_cast<std::uint32_t>(stall_fault{}.window.count());
  bool with_fault = false;
};

stall_plan plan_of(const stall_options& options) {
  stall_plan plan;
  for (const std::string& name : options.arms) {
    const auto same = [&](const stall_arm& arm) { return arm.name == name; };
    if (std::none_of(plan.arms.begin(), plan.arms.end(), same)) plan.arms.push_back(arm_named(name).value());
  }
  plan.runs = options.runs;
  plan.jobs = options.jobs;
  plan.heal = options.heal == "on";
  plan.deadline = std::chrono::milliseconds{options.deadline_ms};
  if (options.with_fault) {
    plan.fault = options.fault;
    plan.fault->window = std::chrono::microseconds{options.window_us};
  }
  return plan;
}

/// One run of the subcommand.
class stall_command {
 public:
  explicit stall_command(const stall_options& options)
      : options_{options}, plan_{plan_of(options)}, tally_{plan_}, csv_{plan_} {}

  int run() {
    if (!write_csv()) return exit_failure;  // before the work, rather than after it
    const bool shows_progress = progress_wanted(options_.progress);
    try {
      stall_runs runs{plan_};
      while (!interrupted() && runs.advance(interval, [this](const stall_run& run) { note(run); })) {
        if (shows_progress) draw();
      }
    } catch (const std::system_error& failure) {
      console_.message(fmt::format("a run cannot be started: {}", failure.what()));
      failed_ = true;
    }
    console_.erase();
    console_.result(tally_.text());
    console_.flush();
    if (!write_csv()) failed_ = true;
    return conclude();
  }

 private:
  void note(const stall_run& run) {
    tally_.add(run);
    if (!options_.csv.empty()) csv_.add(run);
  }

  bool write_csv() {
    if (options_.csv.empty()) return true;
    const std::error_code error = replace_file(options_.csv, csv_.text());
    if (error) console_.message(fmt::format("{}: {}", printable(options_.csv), error.message()));
    return !error;
  }

  void draw() {
    const auto now = monotonic::now();
    if (now < next_draw_) return;
    next_draw_ = now + interval;
    const double part = static_cast<double>(tally_.runs()) / static_cast<double>(plan_.all_runs());
    const std::string text = fmt::format("{}/{} runs  {} stalled", grouped(tally_.runs()), grouped(plan_.all_runs()),
                                         grouped(tally_.stalled()));
    console_.draw(with_bar(part, text, terminal_width() - 1));  // the last column would make some terminals wrap
  }

  int conclude() {
    if (const std::error_code error = console_.output_error()) {
      if (is_broken_pipe(error)) end_by_broken_pipe();
      console_.message("cannot write to standard output: " + error.message());
      return exit_failure;
    }
    if (tally_.runs() != plan_.all_runs() && interrupted()) {
      console_.message(fmt::format("interrupted: {} of {} runs", tally_.runs(), plan_.all_runs()));
      return interrupt_exit_status();
    }
    return failed_ || tally_.stalled() != 0 || tally_.broken() != 0 ? exit_failure : exit_success;
  }

  const stall_options options_;
  const stall_plan plan_;
  console console_{"tidepool stall"};
  stall_tally tally_;
  stall_csv csv_;
  monotonic::time_point next_draw_{};
  bool failed_ = false;
};

constexpr const char* footer = R"(On current Windows a pool that has no thread yet can stop for good when the queued
callback of a wait is removed: what comes later by waits, timers and I/O stays in
the queue. Each arm does that in its own way, or avoids it, many times over, every
time in a fresh process, and asks whether the pool runs a callback that comes later:
  cancel   the queued callback is cancelled
  close    the wait is closed, and nothing is cancelled
  drain    what tidepool's destructors do: the callback runs
  warm     as cancel, on a pool that has run something before
  delay    as cancel, after a millisecond in which nothing happens
  spin-N   as close, N microseconds later

Of those runs in which it does not, the first are shown: the pools as they are then,
with another packet, and whether a work item sets the pool going.

Exit status: 0 when nothing stalled; 1 when something did (what the healer recovered
does not count), when a run did not come to its end, or the output could not be
written; 2 for a mistake on the command line; 130 after Ctrl-C, with the table of
what had been run.)";

constexpr const char* fault_group = "Fault injection (off, unless one of these is given)";

void add_fault_options(CLI::App& stall, stall_options& options) {
  const auto given = [&options](const auto&) { options.with_fault = true; };
  stall.add_option("--window", options.window_us, "How long the pool does not make its first thread, in microseconds")
      ->capture_default_str()
      ->type_name("US")
      ->check(CLI::Range(0u, 60'000'000u))
      ->group(fault_group)
      ->each(given);
  stall.add_option("--probability", options.fault.probability, "That a removal in that time stalls the pool")
      ->capture_default_str()
      ->type_name("P")
      ->check(CLI::Range(0.0, 1.0))
      ->group(fault_group)
      ->each(given);
  stall.add_option("--seed", options.fault.seed, "Of the decisions, with which they can be repeated")
      ->capture_default_str()
      ->type_name("N")
      ->group(fault_group)
      ->each(given);
}

}  // namespace

void add_stall(CLI::App& app, chosen_command& chosen) {
  CLI::App* stall = app.add_subcommand("stall", "Find out whether the thread pool here can stall for good");
  auto options = std::make_shared<stall_options>();
  add_strings(*stall, "--arm", options->arms,
              "What to try; may be repeated. If left out: all of those below, with N 5, 20, 100, 1000")
      ->type_name("NAME")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->check([](const std::string& name) {
        return arm_named(unshielded(name))
                   ? std::string{}
                   : fmt::format("no arm '{}'; there are {}", unshielded(name), names_of_arms());
      });
  stall->add_option("-n,--runs", options->runs, "Runs of each arm")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1u, most_runs));
  stall->add_option("-j,--jobs", options->jobs, "Processes at the same time")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1u, most_jobs));
  stall->add_option("--csv", options->csv, "Write a line for each run to FILE")->type_name("FILE");
  stall->add_option("--heal", options->heal, "Have tidepool repair the pools of the arm cancel: on, off")
      ->capture_default_str()
      ->type_name("WHETHER")
      ->check(CLI::IsMember({"on", "off"}))
      ->check([](const std::string& choice) {
        return choice == "on" && !heals ? "this build has no self-heal (TIDEPOOL_SELF_HEAL=OFF)" : std::string{};
      });
  stall
      ->add_option("--deadline", options->deadline_ms,
                   "When a callback that has not run counts as stalled, in milliseconds")
      ->capture_default_str()
      ->type_name("MS")
      ->check(CLI::Range(1u, 600'000u));
  add_progress_option(*stall, options->progress);
  if (stalls_can_be_injected()) add_fault_options(*stall, *options);
  stall->footer(footer);
  stall->callback([options, &chosen] {
    chosen = [options] {
      notice_interrupts();
      return stall_command{*options}.run();
    };
  });
}

}  // namespace tool
