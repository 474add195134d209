#include "engine/poll_target.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "engine/futex_lock.hpp"
#include "engine/poller.hpp"

namespace tidepool::engine {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

struct slot {
  poll_target* target = nullptr;
  std::uint32_t generation = 0;
  std::uint32_t next_free = none;
};

struct key_table {
  futex_lock lock;  // comes after those of targets
  std::vector<slot> slots;
  std::uint32_t free = none;
  std::uint32_t used = 0;

  [[nodiscard]] std::uint64_t key_of(std::uint32_t index) const noexcept {
    return (std::uint64_t{index} << 32 | slots[index].generation) + poller::first_descriptor_key;
  }
};

std::uint32_t index_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>((key - poller::first_descriptor_key) >> 32);
}

key_table& keys() noexcept {
  // Never destroyed, as handles are not.
  alignas(key_table) static unsigned char storage[sizeof(key_table)];
  static key_table& only = *::new (static_cast<void*>(storage)) key_table;
  return only;
}

}  // namespace

std::uint64_t poll_target::reserve_key() noexcept {
  key_table& table = keys();
  const std::lock_guard guard(table.lock);
  if (table.free == none) {
    try {
      table.slots.push_back({});
    } catch (const std::bad_alloc&) {
      return 0;
    }
    table.free = static_cast<std::uint32_t>(table.slots.size() - 1);
  }
  const std::uint32_t index = table.free;
  table.free = table.slots[index].next_free;
  ++table.used;
  return table.key_of(index);
}

void poll_target::assign_key(std::uint64_t key, poll_target& to) noexcept {
  key_table& table = keys();
  const std::lock_guard guard(table.lock);
  table.slots[index_of(key)].target = &to;
}

void poll_target::release_key(std::uint64_t key) noexcept {
  key_table& table = keys();
  const std::lock_guard guard(table.lock);
  const std::uint32_t index = index_of(key);
  slot& its = table.slots[index];
  its.target = nullptr;
  --table.used;
  ++its.generation;
  its.next_free = table.free;
  table.free = index;
}

void poll_target::note(std::uint64_t key, std::uint32_t events) noexcept {
  key_table& table = keys();
  poll_target* target;
  {
    const std::lock_guard guard(table.lock);
    const std::uint32_t index = index_of(key);
    if (table.key_of(index) != key) {
      return;
    }
    target = table.slots[index].target;
    if (target == nullptr || !target->try_keep()) {
      return;
    }
  }
  target->note_events(events);
}

bool poller::has_targets() noexcept { return keys().used != 0; }

}  // namespace tidepool::engine
