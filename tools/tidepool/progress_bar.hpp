#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tool {

/// "12,345"
std::string grouped(std::uint64_t number);

/// The text as one line of at most `width` columns, with a bar and a percentage before it if it is known what part is
/// done, 0 to 1.
std::string with_bar(std::optional<double> part, std::string text, int width);

/// Adds --progress WHEN.
void add_progress_option(CLI::App& app, std::string& choice);

/// Whether progress is to be shown, by that choice.
bool progress_wanted(const std::string& choice);

}  // namespace tool
