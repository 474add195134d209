#pragma once

#include <cstddef>
#include <string_view>

namespace tool {

/// Bytes of the well-formed UTF-8 sequence that the text begins with, or 0 when it does not begin with one.
constexpr std::size_t utf8_sequence_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0u) != 0x80u) return 0;
  }
  const bool overlong = (lead == 0xE0 && at(1) < 0xA0) || (lead == 0xF0 && at(1) < 0x90);
  const bool surrogate = lead == 0xED && at(1) > 0x9F;
  const bool beyond = lead == 0xF4 && at(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace tool
