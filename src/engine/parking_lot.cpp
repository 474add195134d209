#include "engine/parking_lot.hpp"

#include <cstdint>
#include <new>

namespace tidepool::engine {

namespace {

constexpr std::size_t place_count = 64;

// Never destroyed: static destructors may still wait for callbacks.
alignas(parking_place) unsigned char storage[place_count][sizeof(parking_place)];

struct places {
  places() noexcept { parking_place::make_all_anew(); }
};

}  // namespace

void parking_place::make_all_anew() noexcept {
  for (auto& place : storage) {
    ::new (static_cast<void*>(place)) parking_place;
  }
}

parking_place& parking_place::of(const void* object) noexcept {
  static const places made;
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return *std::launder(reinterpret_cast<parking_place*>(storage[(address >> 6) % place_count]));
}

}  // namespace tidepool::engine
