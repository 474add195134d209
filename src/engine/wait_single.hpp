// Waiting for one object.
#pragma once

#include "engine/dispatcher_object.hpp"
#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

/// WaitForSingleObject on an object that the caller keeps alive. Returns what that returns; does not fail.
DWORD wait_for(dispatcher_object& object, DWORD milliseconds) noexcept;

}  // namespace tidepool::engine
