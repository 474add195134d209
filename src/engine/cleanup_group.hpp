// Cleanup groups: objects that are released as a unit.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/futex_lock.hpp"
#include "tidepool/win32/threadpoolapiset.h"

namespace tidepool::engine {
struct callback_object;
}

struct _TP_CLEANUP_GROUP {
 public:
  /// An object becomes a member when it is made.
  void add(tidepool::engine::callback_object& member) noexcept;
  /// An object that is being freed is none any more.
  void remove(tidepool::engine::callback_object& member) noexcept;

  /// A disassociated callback of a member: its object no longer waits for it, but the group does.
  void begin_detached() noexcept;
  void end_detached() noexcept;

  void close_members(bool cancel_pending, PVOID cleanup_context) noexcept;
  void close() noexcept { release(); }

 private:
  void begin_outstanding() noexcept;
  void end_outstanding() noexcept;
  void await_outstanding() noexcept;
  void unlink(tidepool::engine::callback_object& member) noexcept;
  void release() noexcept;

  tidepool::engine::futex_lock lock_;
  tidepool::engine::callback_object* members_ = nullptr;
  /// Disassociated callbacks, and releases that wait for callbacks. Guarded by the parking place's lock.
  std::uint32_t outstanding_ = 0;
  /// The user's and one per object made in the group: a member frees itself after the group's release has
  /// passed over it. Acquire-release on the way down, so that the last one sees everything.
  std::atomic<std::uint32_t> references_{1};
};
