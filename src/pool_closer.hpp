// What the last owner of a private pool does.
#pragma once

#include "win32.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL
#include "heal/repair_slot.hpp"
#endif

namespace tidepool {

struct pool_closer {
  pool_closer() noexcept = default;
  pool_closer(pool_closer&&) noexcept {}  // into the std::shared_ptr, when nothing has been asked for yet

  void operator()(PTP_POOL owned) noexcept;

#ifndef TIDEPOOL_NO_SELF_HEAL
  heal::repair_slot repair;
#endif
};

}  // namespace tidepool
