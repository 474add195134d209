#include "teardown/group_generation.hpp"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>

#include "teardown/callback_chain.hpp"
#include "teardown/context_lifetime.hpp"
#include "trace/traced.hpp"

namespace tidepool {

namespace {

using detail::group_generation;
using detail::member_record;

/// Where closings wait for operations to end. One place for all, since it is hardly ever needed. Not the record's own
/// std::atomic::wait(): in libstdc++ 12 that loses wake-ups on systems without futexes.
struct departures {
  std::mutex mutex;
  std::condition_variable changed;
};

departures& all_departures() noexcept {
  // Never destroyed: groups may be closed by destructors of static objects.
  alignas(departures) static std::byte storage[sizeof(departures)];
  static departures& shared = *::new (storage) departures;
  return shared;
}

/// From here on nobody but the group's own callbacks uses a member.
void refuse_others(const group_generation& generation) noexcept {
  // All are told before the first is waited for: an operation on one may wait for callbacks of another.
  for (member_record* const each : generation.members) {
    each->uses.fetch_or(member_record::closing, std::memory_order_acq_rel);  // pairs with those that enter and leave
  }
  for (const member_record* const each : generation.members) {
    const auto unused = [each] {
      return each->uses.load(std::memory_order_acquire) < member_record::one_use;  // pairs with those that leave
    };
    if (!unused()) {
      departures& place = all_departures();
      std::unique_lock lock(place.mutex);
      place.changed.wait(lock, unused);
    }
  }
}

/// Until nothing is queued or running: a callback may have submitted work to a member that had been waited for.
void run_out_all(const group_generation& generation) noexcept {
  std::uint64_t before;
  do {
    before = generation.late_submissions.load(std::memory_order_relaxed);
    for (const member_record* const each : generation.members) {
      each->functions.run_out(each->context);
    }
  } while (generation.late_submissions.load(std::memory_order_relaxed) != before);
}

}  // namespace

void tell_departure() noexcept {
  departures& place = all_departures();
  // Taken and given back: whoever has looked at the uses before they changed is waiting by now.
  {
    const std::lock_guard guard(place.mutex);
  }
  place.changed.notify_all();
}

bool runs_in_callback_of(const group_generation* generation) noexcept {
  const detail::callback_frame* frame = innermost_callback;
  while (frame != nullptr && (frame->context == nullptr || frame->context->group != generation)) {
    frame = frame->outer;
  }
  return frame != nullptr;
}

bool runs_in_callback_of(const detail::group_state& group) noexcept {
  for (const detail::callback_frame* frame = innermost_callback; frame != nullptr; frame = frame->outer) {
    // The generation of a run that has been disassociated is still there, since the release of the native group waits
    // for that run too.
    const detail::callback_context* const context = frame->disassociated ? frame->kept : frame->context;
    if (context != nullptr && context->group != nullptr && &context->group->of == &group) {
      return true;
    }
  }
  return false;
}

void close_natives(group_generation& generation, bool cancel_pending) noexcept {
  // First, so that nothing that others wait for can go on for ever: they are waited for in turn.
  for (const member_record* const each : generation.members) {
    each->functions.close_gate(each->context);
  }
  if (cancel_pending) {
    generation.cancelling.store(true, std::memory_order_relaxed);  // published by `closing`
  }
  refuse_others(generation);
  if (cancel_pending) {
    for (const member_record* const each : generation.members) {
      each->functions.drop(each->context);
    }
  } else {
    run_out_all(generation);
  }
  // Nothing is queued or armed, and nobody can change that. What is left are runs that have been disassociated. They may
  // not use members, and the native group waits for them.
  for (member_record* const each : generation.members) {
    each->uses.fetch_or(member_record::released, std::memory_order_release);  // pairs with those that enter
    each->functions.end_use(each->context);
  }
  TRACED(CloseThreadpoolCleanupGroupMembers)(generation.native, FALSE, nullptr);
  TRACED(CloseThreadpoolCleanupGroup)(generation.native);
  constexpr auto closed = recorder::action::closed;
  if (recorder::is_on(recorder::categories_of_objects<closed>)) [[unlikely]] {  // one test, not one for each member
    for (const member_record* const each : generation.members) {
      recorder::note_of<closed>(each->context);
    }
  }
}

void destroy_members(group_generation* generation) noexcept {
  while (!generation->members.empty()) {
    member_record* const last = generation->members.back();
    generation->members.pop_back();
    give_back(last->context);
    give_back(*last);
  }
  delete generation;
}

}  // namespace tidepool
