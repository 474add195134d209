#pragma once

// A subcommand is one file that defines one function declared here. The function adds the subcommand to the command
// line and, when the user picks it, leaves what is to be run in `chosen`; its result is the exit status.

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tool {

enum exit_status : int {
  exit_success = 0,
  exit_failure = 1,  ///< some of the work could not be done, and a message said which
  exit_usage = 2     ///< the command line makes no sense
};

using chosen_command = std::function<int()>;

void add_doctor(CLI::App& app, chosen_command& chosen);
void add_stall(CLI::App& app, chosen_command& chosen);
void add_stall_run(CLI::App& app, chosen_command& chosen);
void add_sum(CLI::App& app, chosen_command& chosen);
void add_timeline(CLI::App& app, chosen_command& chosen);

/// What `main` offers, in the order of the help text.
inline constexpr void (*subcommands[])(CLI::App&, chosen_command&) = {add_sum, add_timeline, add_doctor, add_stall,
                                                                      add_stall_run};

/// Adds an option, or with a name without dashes a positional, that takes any number of strings, exactly as they were
/// typed. (The parser's own list type gives a meaning to "[a,b]", "{}", "%%" and the empty string.)
CLI::Option* add_strings(CLI::App& app, const std::string& name, std::vector<std::string>& strings,
                         const std::string& description);

}  // namespace tool
