// The version of these headers, by semantic versioning: before 1.0 a new minor version may break its users.
#pragma once

#define TIDEPOOL_VERSION_MAJOR 0
#define TIDEPOOL_VERSION_MINOR 1
#define TIDEPOOL_VERSION_PATCH 0

namespace tidepool {

inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;
inline constexpr const char* version_string = "0.1.0";

static_assert(version_major == TIDEPOOL_VERSION_MAJOR);
static_assert(version_minor == TIDEPOOL_VERSION_MINOR);
static_assert(version_patch == TIDEPOOL_VERSION_PATCH);

}  // namespace tidepool
