// What has been recorded, as text. docs/reference/trace.md has the format.
#pragma once

#include <cstdio>

namespace tidepool::recorder {

/// Writes the records that there are. Others may record meanwhile. Whether that succeeded the file tells.
void write_capture(std::FILE* to);

}  // namespace tidepool::recorder
