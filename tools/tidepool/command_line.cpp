#include "command_line.hpp"

#include <algorithm>
#include <iterator>

#include "subcommand.hpp"

#ifdef _WIN32
#include <windows.h>

#include <shellapi.h>

#include "windows_text.hpp"
#endif

namespace tool {
namespace {

// Put before an argument that the parser would interpret. No argument of a process can contain it.
constexpr char shield = '\0';

bool parser_would_interpret(const std::string& argument) {
  return argument.empty() || argument == "{}" || argument == "%%" || argument == "++" ||
         (argument.front() == '[' && argument.back() == ']');
}

}  // namespace

std::vector<std::string> command_line_arguments([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  std::vector<std::string> arguments;
#ifdef _WIN32
  // What the C runtime hands to main has been squeezed through the ANSI code page.
  int count = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &count);
  for (int i = 1; i < count; ++i) arguments.push_back(to_utf8(wide[i]));
  LocalFree(wide);
#else
  arguments.assign(argv + std::min(argc, 1), argv + argc);
#endif
  return arguments;
}

std::vector<std::string> shielded(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  bool options_over = false;
  for (const std::string& argument : arguments) {
    if (!options_over && argument == "--") {
      options_over = true;  // the parser hands what follows a "--" to the wrong subcommand
    } else if (parser_would_interpret(argument) || (options_over && argument.starts_with('-'))) {
      result.push_back(shield + argument);
    } else {
      result.push_back(argument);
    }
  }
  return result;
}

std::string unshielded(std::string argument) {
  if (argument.starts_with(shield)) argument.erase(0, 1);
  return argument;
}

CLI::Option* add_strings(CLI::App& app, const std::string& name, std::vector<std::string>& strings,
                         const std::string& description) {
  const auto keep = [&strings](const std::vector<std::string>& given) {
    strings.clear();
    std::transform(given.begin(), given.end(), std::back_inserter(strings), unshielded);
  };
  return app.add_option_function<std::vector<std::string>>(name, keep, description);
}

}  // namespace tool
