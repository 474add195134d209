#pragma once

#include <string>
#include <string_view>

#include "timeline_model.hpp"

namespace tool {

/// The timeline as one HTML page that needs nothing else. `name` is what the page calls the capture.
std::string timeline_page(const capture& source, const timeline& lines, std::string_view name);

/// What a reader should know before trusting what is shown, although nothing is wrong: records that are gone, say.
std::vector<std::string> notices_of(const capture& source);

}  // namespace tool
