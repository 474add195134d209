// What a wait knows of the repair of its pool.
#pragma once

#ifdef TIDEPOOL_NO_SELF_HEAL
#include <type_traits>
#endif

namespace tidepool::heal {
class pool_repair;
}

namespace tidepool::detail {

#ifndef TIDEPOOL_NO_SELF_HEAL

struct healing {
  healing() noexcept = default;
  healing(const healing&) = delete;
  healing& operator=(const healing&) = delete;
  ~healing();

  heal::pool_repair* repair = nullptr;  // null if there was no memory for it
  bool is_own = false;                  // the wait's, since it is on a pool that this library does not own
};

#else

/// The constructor is the library's, so that a program that was compiled for the other kind of build, in which a wait has
/// another size, does not link. So is the destructor there.
struct no_healing {
  no_healing() noexcept;
};
using healing = no_healing;
static_assert(std::is_empty_v<healing>);  // so that it takes no space in a wait

template <class>
inline constexpr bool repairs = false;

#define TIDEPOOL_NOT_REPAIRED                                                                                        \
  "tidepool: this build of the library does not repair a pool whose queued waits are cancelled "                     \
  "(TIDEPOOL_SELF_HEAL=OFF); call stop_and_drain(), which cancels nothing, or, where a pool that may stall does no " \
  "harm, unsafe::try_cancel_pending_without_healing()"

#endif

}  // namespace tidepool::detail
