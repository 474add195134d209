#pragma once

#include <string>
#include <string_view>

namespace tool {

/// UTF-8 to UTF-16 and back. Unpaired surrogates, which Windows allows in names, pass as their three-byte form, so that
/// a name that was listed can be opened again. Bytes that are no UTF-8 become U+FFFD.
std::wstring to_utf16(std::string_view text);
std::string to_utf8(std::wstring_view text);

/// The path as the wide functions of Windows take it; beyond MAX_PATH in the form that lifts that limit.
std::wstring native_path(std::string_view path);

}  // namespace tool
