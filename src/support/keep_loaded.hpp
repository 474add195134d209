// Libraries that a program loads and unloads.
#pragma once

namespace tidepool::support {

/// Has the library that `address` is in, if it is in one, never be unloaded. False if that is refused.
bool keep_loaded(const void* address) noexcept;

}  // namespace tidepool::support
