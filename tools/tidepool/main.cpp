// The tidepool command-line tool: the command line, and nothing that a subcommand does.

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>

#include "command_line.hpp"
#include "standard_streams.hpp"
#include "subcommand.hpp"
#include "sum_line.hpp"
#include "tidepool/version.hpp"

namespace {

/// Prints what the parser has to say: help and version to standard output, a mistake to standard error.
int answer(const CLI::App& app, const CLI::ParseError& said) {
  const auto picked = app.get_subcommands();
  const std::string name = picked.empty() ? app.get_name() : app.get_name() + " " + picked.front()->get_name();
  if (said.get_exit_code() == 0) {
    std::string text;
    if (dynamic_cast<const CLI::CallForHelp*>(&said) != nullptr) {
      text = app.help();
    } else {
      text = std::string{said.what()} + "\n";
    }
    const std::error_code error = tool::write_all(tool::output_stream::out, text);
    if (!error) return tool::exit_success;
    if (tool::is_broken_pipe(error)) tool::end_by_broken_pipe();
    tool::write_all(tool::output_stream::err,
                    fmt::format("{}: cannot write to standard output: {}\n", name, error.message()));
    return tool::exit_failure;
  }
  std::string mistake = said.what();
  // What nothing could be made of explains a "required" that follows from it, so it is named instead.
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    const bool option = unknown.front().starts_with('-');
    mistake = fmt::format("unknown {} '{}'", option ? "option" : "subcommand", unknown.front());
  }
  std::erase(mistake, '\0');  // the mark of a shielded argument
  tool::write_all(tool::output_stream::err,
                  fmt::format("{0}: {1}\nTry '{0} --help'.\n", name, tool::printable(mistake)));
  return tool::exit_usage;
}

int run(int argc, char** argv) {
  CLI::App app{"The Windows thread pool, safe, on Windows and Linux: command-line tool.", "tidepool"};
  app.allow_windows_style_options(false);  // "/usr/share" is a path
  app.set_version_flag("--version", std::string{"tidepool "} + tidepool::version_string, "Print the version and exit");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  tool::chosen_command chosen;
  for (const auto add : tool::subcommands) add(app, chosen);

  std::vector<std::string> arguments = tool::shielded(tool::command_line_arguments(argc, argv));
  std::reverse(arguments.begin(), arguments.end());  // the parser takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& said) {
    return answer(app, said);
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  tool::prepare_standard_streams();
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    tool::write_all(tool::output_stream::err, fmt::format("tidepool: {}\n", failure.what()));
    return tool::exit_failure;
  }
}
