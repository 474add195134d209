#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tool {

/// An XXH3-128 digest in its canonical (big-endian) order.
using digest = std::array<std::uint8_t, 16>;

/// The line, newline included, that `xxh128sum -c` reads back as this digest of this path.
///
/// Paths are printed as they are, because every version of xxh128sum takes such a line literally. Two can not be: one
/// that contains a newline is escaped, which xxh128sum understands from version 0.8.2 and counts as an improperly
/// formatted line before; and one that is just `stdin`, by which xxh128sum means standard input, becomes `./stdin`.
std::string sum_line(const digest& sum, std::string_view path);

/// The line for standard input.
std::string standard_input_line(const digest& sum);

/// The path as a message may show it: control characters and bytes that are no UTF-8 as `\n`, `\t`, `\x1b` and so on.
std::string printable(std::string_view path);

}  // namespace tool
