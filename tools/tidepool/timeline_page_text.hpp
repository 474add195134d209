#pragma once

#include <string_view>

namespace tool {

/// The page of timeline/, its styles and scripts inside, with "{{capture}}" where the data belongs. The build makes it.
std::string_view timeline_page_text() noexcept;

}  // namespace tool
