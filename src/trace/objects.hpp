// Records about the library's objects.
#pragma once

#include <cstdint>

#include "tidepool/detail/callback_context.hpp"
#include "trace/recorder.hpp"

namespace tidepool::recorder {

static_assert(static_cast<int>(detail::object_kind::work) == 0 && static_cast<int>(detail::object_kind::io) == 4);
inline constexpr kind kinds_of_objects[] = {kind::work, kind::timer, kind::periodic_timer, kind::wait, kind::io};

constexpr kind kind_of(detail::object_kind what) noexcept { return kinds_of_objects[static_cast<std::size_t>(what)]; }

/// Whether such a record is made of some kind of object.
template <action Which>
inline constexpr std::uint32_t categories_of_objects =
    categories_of(kind::work, Which) | categories_of(kind::timer, Which) | categories_of(kind::wait, Which) |
    categories_of(kind::io, Which);

/// These look at the object's own category.
void write_of(kind what, const void* object, action which, std::uint64_t first, std::uint64_t second) noexcept;
void write_of(const detail::callback_context& object, action which, std::uint64_t first, std::uint64_t second) noexcept;
void write_with_site_of(const detail::callback_context& object, action which) noexcept;

template <action Which>
void note_of(const detail::callback_context& object, std::uint64_t first = 0, std::uint64_t second = 0) noexcept {
  if (is_on(categories_of_objects<Which>)) [[unlikely]] {
    write_of(object, Which, first, second);
  }
}

/// Of an object that is not there any more.
template <action Which>
void note_of_late(kind what, const void* object) noexcept {
  if (is_on(categories_of_objects<Which>)) [[unlikely]] {
    write_of(what, object, Which, 0, 0);
  }
}

/// With the place where it was created.
template <action Which>
void note_site_of(const detail::callback_context& object) noexcept {
  if (is_on(categories_of_objects<Which>)) [[unlikely]] {
    write_with_site_of(object, Which);
  }
}

}  // namespace tidepool::recorder
