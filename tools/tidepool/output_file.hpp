#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace tool {

/// Makes the file's contents this text, all or nothing: it is written under another name in the same folder, and takes
/// the place of what was there when it is whole. Links are followed, and permissions kept. What is not a regular file, a
/// pipe or a device, is written to as it is.
std::error_code replace_file(const std::string& path, std::string_view text);

}  // namespace tool
