#pragma once

#include <string>
#include <vector>

#include "stall_trial.hpp"

namespace tool {

/// The command line with which this program carries out one trial and prints its report.
std::vector<std::string> child_arguments(const stall_trial& trial);

}  // namespace tool
