#pragma once

#include <string>

#include "timeline_model.hpp"

namespace tool {

/// The timeline in Chrome's trace event format, as Perfetto and chrome://tracing load it.
std::string chrome_trace(const capture& source, const timeline& lines);

}  // namespace tool
