#pragma once

#include <string>
#include <vector>

namespace tool {

/// The arguments of the process without the program's name: the bytes given on POSIX, UTF-8 on Windows.
std::vector<std::string> command_line_arguments(int argc, char** argv);

/// Arguments as the parser must see them so that `add_strings` can hand them on unchanged: those with a meaning to the
/// parser that they do not have to the user are marked, and everything after a `--` is no option.
std::vector<std::string> shielded(const std::vector<std::string>& arguments);

/// One of them as it was typed.
std::string unshielded(std::string argument);

}  // namespace tool
