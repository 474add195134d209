// Making files of descriptors.
#pragma once

#include "engine/file.hpp"

namespace tidepool::engine {

/// What kind of file `descriptor` asks for, with one reference; it takes the descriptor over, unless it returns null, with
/// the last error set.
[[nodiscard]] file* make_file(int descriptor, bool overlapped) noexcept;

}  // namespace tidepool::engine
