// The repair of a wait's pool, as the wait sees it.
#pragma once

#include <memory>

#include "tidepool/detail/healing.hpp"
#include "tidepool/native.hpp"

namespace tidepool::heal {

#ifndef TIDEPOOL_NO_SELF_HEAL

/// A wait is about to be made on `pool`; null is the default pool. `owner` is the pool's, or that of another, or null. If there
/// is no memory for a repair the wait is made all the same, and its pool not repaired.
void prepare(detail::healing& of, native::pool pool, const std::shared_ptr<::_TP_POOL>& owner) noexcept;

/// A callback that was queued on the wait's pool may just have been dropped.
void note_cancelled(const detail::healing& of, const std::shared_ptr<::_TP_POOL>& owner) noexcept;

/// Whether that has been so, and no repair has begun since.
[[nodiscard]] bool is_owed(const detail::healing& of) noexcept;

/// The native wait is about to be released, or was not made. Afterwards a pool that this library does not own may be closed at
/// any moment, so it is left alone.
void end(detail::healing& of) noexcept;

#else

inline void prepare(detail::healing&, native::pool, const std::shared_ptr<::_TP_POOL>&) noexcept {}
inline void note_cancelled(const detail::healing&, const std::shared_ptr<::_TP_POOL>&) noexcept {}
[[nodiscard]] inline bool is_owed(const detail::healing&) noexcept { return false; }
inline void end(detail::healing&) noexcept {}

#endif

}  // namespace tidepool::heal
