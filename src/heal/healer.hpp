// Who repairs: a timer on a pool of its own.
#pragma once

namespace tidepool::heal {

/// Has tick_all() (owing_pools.hpp) called every quarter of a second from now on, to the end of the process. False if there is no memory or
/// no other resource for that.
[[nodiscard]] bool make_healer() noexcept;

}  // namespace tidepool::heal
