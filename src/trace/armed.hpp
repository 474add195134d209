// Records of objects that are armed for some time from now.
#pragma once

#include <algorithm>
#include <limits>

#include "tidepool/detail/due_time.hpp"
#include "trace/objects.hpp"

namespace tidepool::recorder {

/// In nanoseconds from now; what is further away than their range reaches is at its end.
[[nodiscard]] inline std::int64_t nanoseconds_until(detail::due_time due) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 100;
  const std::int64_t steps = due <= 0 ? -due : due - detail::due_at(std::chrono::system_clock::now());
  return std::clamp(steps, -most, most) * 100;
}

inline void note_armed(const detail::callback_context& timer, detail::due_time due,
                       std::uint64_t milliseconds) noexcept {
  if (is_on(categories_of_objects<action::armed>)) [[unlikely]] {
    write_of(timer, action::armed, static_cast<std::uint64_t>(nanoseconds_until(due)), milliseconds);
  }
}

inline void note_armed(const detail::callback_context& wait, const void* handle, detail::due_time time_out) noexcept {
  if (is_on(categories_of_objects<action::armed>)) [[unlikely]] {
    write_of(wait, action::armed, reinterpret_cast<std::uintptr_t>(handle),
             static_cast<std::uint64_t>(time_out == detail::without_end ? never : nanoseconds_until(time_out)));
  }
}

}  // namespace tidepool::recorder
