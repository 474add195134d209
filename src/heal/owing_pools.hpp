// The pools that somebody has cancelled a wait on, until they have been repaired.
#pragma once

#include <memory>

#include "heal/repair_state.hpp"
#include "win32.hpp"

namespace tidepool::heal {

class pool_repair;

/// To be looked at by the healer, which is made by the first who calls this, until no repair is owed any more. The pool is kept
/// so long by `owner`, if that is not null.
void list(pool_repair& what, const std::shared_ptr<::_TP_POOL>& owner) noexcept;

/// The healer does not look at it any more. Returns whether it would have.
bool unlist(pool_repair& what) noexcept;

/// Looks at each. By the healer. In a build that fails fast it does not return when a pool is given up.
void tick_all(moment at) noexcept;

}  // namespace tidepool::heal
