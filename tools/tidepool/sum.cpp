// tidepool sum: checksums of files and folders.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "command_line.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "ordered_sums.hpp"
#include "progress.hpp"
#include "progress_bar.hpp"
#include "subcommand.hpp"
#include "walker.hpp"

namespace tool {
namespace {

constexpr std::uint32_t most_jobs = 256;

// How long an interrupted run goes on looking for what it leaves out, to be able to say how much that is.
constexpr std::chrono::seconds longest_count{2};

// Results that come closer together than this are written together.
constexpr std::chrono::milliseconds flush_interval{10};

struct sum_options {
  std::vector<std::string> paths;
  std::vector<std::string> excluded;
  std::uint32_t jobs = 0;
  std::string progress = "auto";
  bool no_follow = false;
};

std::vector<file_identity> output_files() {
  std::vector<file_identity> files;
  for (const output_stream stream : {output_stream::out, output_stream::err}) {
    if (const auto file = regular_file_behind(stream)) files.push_back(*file);
  }
  return files;
}

/// One run of the subcommand.
class sum_run {
 public:
  explicit sum_run(const sum_options& options)
      : plan_{options.paths, exclusions{options.excluded}, !options.no_follow},
        summer_{output_files(), done_},
        sums_{summer_, options.jobs, [this](const auto& request, const auto& result) { deliver(request, result); },
              [this] { idle(); }} {
    if (progress_wanted(options.progress)) progress_ = std::make_unique<progress>(console_, plan_, done_);
  }

  int run() {
    for (const std::string& root : plan_.roots) {
      if (root == "-") {
        if (!stopped())
          sums_.add({root, true, true});
        else
          ++left_out_;
      } else {
        walk(root);
      }
    }
    if (stopped()) sums_.abandon();
    sums_.finish();
    console_.flush();
    progress_.reset();
    console_.erase();
    return conclude();
  }

 private:
  bool stopped() const { return interrupted() || console_.output_error(); }

  void walk(const std::string& root) {
    walker walk{root, plan_.excluded, plan_.follow_folder_links};
    while (auto step = walk.next()) {
      if (stopped()) return count_rest(walk, *step);
      const bool given = step->path == root;
      switch (step->what) {
        case walk_step::kind::file: sums_.add({std::move(step->path), given, false}); break;
        case walk_step::kind::folder: break;
        case walk_step::kind::note:
          sums_.add_finished({std::move(step->path)}, {sum_result::kind::note, {}, std::move(step->message)});
          break;
        case walk_step::kind::error:
          sums_.add_finished({std::move(step->path)}, {sum_result::kind::error, {}, std::move(step->message)});
          break;
      }
      sums_.deliver_ready();
      heartbeat();
    }
  }

  /// After an interrupt: what is left out is counted, not summed. Files already begun finish meanwhile.
  void count_rest(walker& walk, const walk_step& first) {
    sums_.abandon();
    if (console_.output_error()) return;
    if (!count_until_) count_until_ = std::chrono::steady_clock::now() + longest_count;
    std::optional<walk_step> step = first;
    for (; step; step = walk.next()) {
      if (step->what == walk_step::kind::file) ++left_out_;
      if (std::chrono::steady_clock::now() > *count_until_) {
        count_is_complete_ = false;
        return;
      }
    }
  }

  void deliver(const sum_request& request, const sum_result& result) {
    switch (result.what) {
      case sum_result::kind::summed:
        ++summed_;
        console_.result(request.standard_input ? standard_input_line(result.sum) : sum_line(result.sum, request.path));
        break;
      case sum_result::kind::note: say(request, result.message); break;
      case sum_result::kind::error:
        ++failed_;
        say(request, result.message);
        break;
      case sum_result::kind::abandoned: ++left_out_; break;
    }
  }

  void say(const sum_request& request, const std::string& message) {
    console_.message(fmt::format("{}: {}", request.standard_input ? "standard input" : shown(request.path), message));
  }

  static std::string shown(const std::string& path) { return path.empty() ? "''" : printable(path); }

  void heartbeat() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_flush_) return;
    next_flush_ = now + flush_interval;
    idle();
  }

  void idle() {
    console_.flush();
    if (progress_) progress_->tick();
  }

  int conclude() {
    if (const std::error_code error = console_.output_error()) {
      if (is_broken_pipe(error)) end_by_broken_pipe();
      console_.message("cannot write to standard output: " + error.message());
      return exit_failure;
    }
    if (failed_ > 0 && summed_ + failed_ > 1) {
      console_.message(fmt::format("{} summed, {} could not be read", summed_, failed_));
    }
    if (left_out_ > 0) {
      console_.message(fmt::format("interrupted: {} summed, {}{} not summed", summed_,
                                   count_is_complete_ ? "" : "more than ", left_out_));
      return interrupt_exit_status();
    }
    return failed_ > 0 ? exit_failure : exit_success;
  }

  const walk_plan plan_;
  console console_{"tidepool sum"};
  std::uint64_t summed_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t left_out_ = 0;
  bool count_is_complete_ = true;
  std::optional<std::chrono::steady_clock::time_point> count_until_;
  std::chrono::steady_clock::time_point next_flush_{};

  file_count done_;
  std::unique_ptr<progress> progress_;
  file_summer summer_;
  ordered_sums sums_;  // last: its callbacks use what stands above
};

std::uint32_t default_jobs() { return std::clamp(std::thread::hardware_concurrency(), 2u, most_jobs); }

constexpr const char* footer = R"(Examples:
  tidepool sum notes.txt pictures         a file and all that is in a folder
  tidepool sum . > ../tree.xxh128         keep the checksums of a folder, and
  xxh128sum -c --quiet ../tree.xxh128     compare the folder with them later
  tidepool sum --exclude .git --exclude 'build*/' .
  tar -c tree | tidepool sum -            standard input

Lines are in the order of the paths given, and within a folder in the byte order
of its paths, on every run. Links are followed; one that leads nowhere or back to
a folder that contains it is reported. Named pipes, sockets and devices inside a
folder are skipped with a message.

Exit status: 0 when everything was summed, 1 when something could not be, 2 for a
mistake on the command line, 130 after Ctrl-C: the files being read are finished
first (a second Ctrl-C ends at once).)";

int run_sum(sum_options options) {
  if (std::count(options.paths.begin(), options.paths.end(), "-") > 1) {
    write_all(output_stream::err,
              "tidepool sum: standard input (-) can be read once only\n"
              "Try 'tidepool sum --help'.\n");
    return exit_usage;
  }
#ifdef _WIN32
  for (std::string& path : options.paths) std::replace(path.begin(), path.end(), '\\', '/');
#endif
  notice_interrupts();
  return sum_run{options}.run();
}

}  // namespace

void add_sum(CLI::App& app, chosen_command& chosen) {
  CLI::App* sum = app.add_subcommand("sum", "Checksum files and folders (XXH3-128, for xxh128sum -c)");
  auto options = std::make_shared<sum_options>();
  options->jobs = default_jobs();
  add_strings(*sum, "PATH", options->paths, "Files and folders; - is standard input")->type_name("")->required();
  add_strings(
      *sum, "--exclude", options->excluded,
      "Leave out what matches GLOB inside a folder: a name, a path below the folder if GLOB has a slash, folders "
      "only if it ends in one; may be repeated")
      ->type_name("GLOB")
      ->expected(1)
      ->allow_extra_args(false)  // one GLOB to each --exclude: what follows is a PATH
      ->take_all()
      ->check([](const std::string& pattern) {
        return unshielded(pattern).empty() ? "the pattern is empty" : std::string{};
      });
  sum->add_flag("--no-follow", options->no_follow, "Do not enter folders through links");
  sum->add_option("-j,--jobs", options->jobs, "Files read at the same time")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(1u, most_jobs));
  add_progress_option(*sum, options->progress);
  sum->footer(footer);
  sum->callback([options, &chosen] { chosen = [options] { return run_sum(*options); }; });
}

}  // namespace tool
