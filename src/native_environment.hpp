// The native environment inside a callback_environment.
#pragma once

#include "tidepool/detail/access.hpp"
#include "win32.hpp"

namespace tidepool {

[[nodiscard]] TP_CALLBACK_ENVIRON_V3& native_of(callback_environment& environment) noexcept;

/// For the functions that make objects. They take a pointer to a mutable environment, and only read it.
[[nodiscard]] PTP_CALLBACK_ENVIRON native_for_creation(const callback_environment& environment) noexcept;

/// Says nothing but which pool; null is the default pool.
[[nodiscard]] inline TP_CALLBACK_ENVIRON_V3 environment_on(PTP_POOL pool) noexcept {
  TP_CALLBACK_ENVIRON_V3 environment;
  InitializeThreadpoolEnvironment(&environment);
  SetThreadpoolCallbackPool(&environment, pool);
  return environment;
}

}  // namespace tidepool
