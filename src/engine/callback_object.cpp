#include "engine/callback_object.hpp"

#include <chrono>

#include "engine/blocking_region.hpp"
#include "engine/claims.hpp"
#include "engine/cleanup_group.hpp"
#include "engine/cold_start.hpp"
#include "engine/fork.hpp"
#include "engine/instance.hpp"
#include "engine/library.hpp"
#include "engine/parking_lot.hpp"
#include "engine/pool.hpp"
#include "engine/probes.hpp"
#include "engine/work.hpp"

namespace tidepool::engine {

namespace {

void hold_library(HMODULE library) noexcept {
  if (library != nullptr) {
    module_reference::acquire(library);
  }
}

void release_library(HMODULE library) noexcept {
  if (library != nullptr) {
    module_reference::release(library);
  }
}

}  // namespace

callback_object::callback_object(PVOID callback_context, const callback_settings& asked, PTP_WORK_CALLBACK of) noexcept
    : packet(kinds_of<&dispatch_object>[asked.level]), plain_callback(of), context(callback_context), settings(asked) {
  settings.pool->retain();
  hold_library(settings.library);
}

void callback_object::join_group() noexcept {
  if (settings.group != nullptr) {
    settings.group->add(*this);
  }
}

callback_object::~callback_object() {
  if (settings.group != nullptr) {
    settings.group->remove(*this);
  }
  release_library(settings.library);
  settings.pool->release();
}

void callback_object::submit() noexcept {
  TIDEPOOL_PROBE(submit, this, settings.pool);
  worker* const self = settings.pool->worker_here();
  if (self != nullptr && self->queue.submit_next(*this)) {
    return;
  }
  if (state.submit()) {
    settings.pool->queue(*this);
  }
}

void callback_object::dispatch_object(worker& on, packet& entry) noexcept {
  auto& object = static_cast<callback_object&>(entry);
  if (!on.queue.has_claim(object)) {
    const work_state::claimed claim = on.queue.claim(object);
    if (claim.unowned) {
      delete &object;
      return;
    }
    if (claim.remaining) {
      object.settings.pool->queue(object);  // behind what is queued now
    }
    if (claim.count == 0) {
      return;
    }
  }
  for (callback_object* current = &object; current != nullptr;) {
    current = run(on, *current);
    on.pool.between_callbacks(on);
  }
}

bool callback_object::end_run(worker& on, [[maybe_unused]] const callback_object* object,
                              _TP_CALLBACK_INSTANCE& instance) noexcept {
  TIDEPOOL_PROBE(dispatch__end, object, &on.pool);
  instance.complete();
  on.note_completed();
  if (instance.object != nullptr) [[likely]] {
    return true;
  }
  // A group still waits for the thread.
  release_library(instance.held_library);
  if (instance.group != nullptr) {
    instance.group->end_detached();
  }
  return false;
}

/// Runs one claimed submission. Returns what to run next, claimed as well, if anything; `object` may be gone.
callback_object* callback_object::run(worker& on, callback_object& object) noexcept {
  _TP_CALLBACK_INSTANCE instance(on, &object);
  TIDEPOOL_PROBE(dispatch__start, &object, &on.pool);
  if (object.plain_callback != nullptr) [[likely]] {
    object.plain_callback(&instance, object.context, static_cast<_TP_WORK*>(&object));
  } else {
    object.run_with_settings(on, instance);
  }
  if (!end_run(on, &object, instance)) [[unlikely]] {
    return nullptr;
  }
  const local_queue::step step = on.queue.advance(object);
  if (step.again) {
    return &object;
  }
  object.settle();
  return step.next;
}

void callback_object::run_with_settings(worker& on, _TP_CALLBACK_INSTANCE& instance) noexcept {
  // Copied: once disassociated, the object may be gone before the callback returns.
  const PTP_SIMPLE_CALLBACK finalization = settings.finalization;
  const PVOID argument = context;
  if (settings.runs_long) {
    on.pool.excuse(on);
  }
  call(instance);
  if (finalization != nullptr) {
    finalization(&instance, argument);
  }
}

void callback_object::disassociate(worker& on, _TP_CALLBACK_INSTANCE& instance) noexcept {
  instance.object = nullptr;
  if (settings.group != nullptr) {
    settings.group->begin_detached();
    instance.group = settings.group;
  }
  hold_library(settings.library);  // the object's own reference goes with the object
  instance.held_library = settings.library;
  if (on.queue.has_claim(*this)) {
    on.queue.release_claim(*this);
  }
  settle();
}

void callback_object::settle() noexcept {
  switch (state.settle()) {
    case work_state::settled::done: return;
    case work_state::settled::unowned: delete this; return;
    case work_state::settled::waited: break;
  }
  parking_place& place = parking_place::of(this);
  work_state::outcome result;
  {
    const std::lock_guard guard(place.mutex);
    result = state.settle_waited();
    if (result.wake) {
      place.changed.notify_all();
    }
  }
  if (result.unowned) {
    delete this;
  }
}

void callback_object::wait() noexcept {
  if (state.is_quiet()) {
    return;
  }
  require_threads();
  const blocking_region region;
  parking_place& place = parking_place::of(this);
  std::unique_lock lock(place.mutex);
  while (state.announce_waiter()) {
    if (place.changed.wait_for(lock, std::chrono::seconds(1)) == std::cv_status::timeout) {
      lock.unlock();
      settings.pool->rescue();
      lock.lock();
    }
  }
}

bool callback_object::cancel(std::uint64_t own) noexcept {
  parking_place& place = parking_place::of(this);
  std::unique_lock lock(place.mutex);
  work_state::cancelled result = state.cancel();
  bool dropped = result.dropped != 0;
  if (result.claims > own) {
    require_threads();
    // Some may be claimed and not started, and what is claimed may be put back at any moment. Once more, with
    // every worker stopped.
    const auto revoke = [&](worker& each) {
      const local_queue::revoked revoked = each.queue.revoke(*this);
      dropped = dropped || revoked.submissions != 0;
      if (revoked.claim) {
        result.wake = state.settle_waited().wake || result.wake;
      }
    };
    settings.pool->stop_all(revoke, [&] {
      const work_state::cancelled again = state.cancel();
      dropped = dropped || again.dropped != 0;
      result.wake = again.wake || result.wake;
    });
  }
  if (result.wake) {
    place.changed.notify_all();
  }
  lock.unlock();
  if (cold_start* const start = settings.pool->cold(); dropped && start != nullptr) [[unlikely]] {
    start->take_back(*this);
  }
  return dropped;
}

void callback_object::close() noexcept {
  if (state.close()) {
    delete this;
  }
}

std::uint64_t queued_callbacks(const packet& entry) noexcept {
  if (entry.is_bundle()) {
    return static_cast<const bundle&>(entry).size();
  }
  return entry.kind->dispatch == &callback_object::dispatch_object
             ? static_cast<const callback_object&>(entry).state.queued()
             : 1;
}

}  // namespace tidepool::engine
