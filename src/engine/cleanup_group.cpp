#include "engine/cleanup_group.hpp"

#include <mutex>
#include <new>

#include "engine/blocking_region.hpp"
#include "engine/callback_object.hpp"
#include "engine/fork.hpp"
#include "engine/parking_lot.hpp"
#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

void _TP_CLEANUP_GROUP::add(callback_object& member) noexcept {
  references_.fetch_add(1, std::memory_order_relaxed);  // the caller's use of the group keeps it alive
  const std::lock_guard guard(lock_);
  member.in_group = true;
  member.group_next = members_;
  if (members_ != nullptr) {
    members_->group_previous = &member;
  }
  members_ = &member;
}

void _TP_CLEANUP_GROUP::remove(callback_object& member) noexcept {
  {
    const std::lock_guard guard(lock_);
    if (member.in_group) {
      unlink(member);
    }
  }
  release();
}

/// With the lock held.
void _TP_CLEANUP_GROUP::unlink(callback_object& member) noexcept {
  (member.group_previous != nullptr ? member.group_previous->group_next : members_) = member.group_next;
  if (member.group_next != nullptr) {
    member.group_next->group_previous = member.group_previous;
  }
  member.group_next = nullptr;
  member.group_previous = nullptr;
  member.in_group = false;
}

void _TP_CLEANUP_GROUP::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

void _TP_CLEANUP_GROUP::begin_detached() noexcept {
  references_.fetch_add(1, std::memory_order_relaxed);  // the member's reference keeps the group until here
  begin_outstanding();
}

void _TP_CLEANUP_GROUP::end_detached() noexcept {
  end_outstanding();
  release();
}

void _TP_CLEANUP_GROUP::begin_outstanding() noexcept {
  const std::lock_guard guard(parking_place::of(this).mutex);
  ++outstanding_;
}

void _TP_CLEANUP_GROUP::end_outstanding() noexcept {
  parking_place& place = parking_place::of(this);
  const std::lock_guard guard(place.mutex);
  if (--outstanding_ == 0) {
    place.changed.notify_all();
  }
}

void _TP_CLEANUP_GROUP::await_outstanding() noexcept {
  parking_place& place = parking_place::of(this);
  std::unique_lock lock(place.mutex);
  if (outstanding_ != 0) {
    require_threads();
    const blocking_region region;
    place.changed.wait(lock, [this] { return outstanding_ == 0; });
  }
}

void _TP_CLEANUP_GROUP::close_members(bool cancel_pending, PVOID cleanup_context) noexcept {
  begin_outstanding();
  // Takes the members that are not about to free themselves, each held so that neither its user's close nor
  // its last callback frees it under us. Their list is ours alone then: `in_group` is false.
  callback_object* taken = nullptr;
  {
    const std::lock_guard guard(lock_);
    while (members_ != nullptr) {
      callback_object& member = *members_;
      unlink(member);
      if (member.state.hold()) {
        member.group_next = taken;
        taken = &member;
      }
    }
  }
  for (callback_object* each = taken; each != nullptr; each = each->group_next) {
    each->disarm();
  }
  for (callback_object* each = taken; each != nullptr; each = each->group_next) {
    each->cancelled_by_group = cancel_pending && each->drop();
  }
  for (callback_object* each = taken; each != nullptr; each = each->group_next) {
    each->wait();
  }
  end_outstanding();
  await_outstanding();  // callbacks that nobody else waits for, and what other threads are releasing
  while (taken != nullptr) {
    callback_object& member = *taken;
    taken = member.group_next;
    member.group_next = nullptr;
    // A one-off callback is closed from the start: it is released here if it never ran.
    const bool released_here = member.is_one_off ? member.cancelled_by_group : !member.state.is_closed();
    if (cancel_pending && released_here && member.settings.group_cancel != nullptr) {
      member.settings.group_cancel(member.context, cleanup_context);
    }
    if (member.state.let_go()) {
      delete &member;
    }
  }
}

// ---- the Win32 functions -------------------------------------------------------------------------------

PTP_CLEANUP_GROUP CreateThreadpoolCleanupGroup() noexcept {
  auto* const group = new (std::nothrow) _TP_CLEANUP_GROUP;
  if (group == nullptr) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
  }
  return group;
}

VOID CloseThreadpoolCleanupGroupMembers(PTP_CLEANUP_GROUP group, BOOL cancel_pending, PVOID cleanup_context) noexcept {
  group->close_members(cancel_pending != FALSE, cleanup_context);
}

VOID CloseThreadpoolCleanupGroup(PTP_CLEANUP_GROUP group) noexcept { group->close(); }
