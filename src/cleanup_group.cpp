#include "tidepool/cleanup_group.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "creation.hpp"
#include "last_error.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/group_generation.hpp"
#include "timer_operations.hpp"
#include "trace/traced.hpp"
#include "wait_operations.hpp"
#include "work_operations.hpp"

namespace tidepool::detail {

struct group_state {
  explicit group_state(const std::source_location& where) noexcept : created_at(where) {}

  const std::source_location created_at;

  std::mutex mutex;
  // Guarded by it:
  group_generation* current = nullptr;  // that new members belong to
  std::uint32_t closings = 0;           // under way
  std::condition_variable closed;       // told when there are none
};

}  // namespace tidepool::detail

namespace tidepool {

namespace {

using detail::group_generation;
using detail::group_state;
using detail::member_record;

constexpr const char* moved_from = "a cleanup_group was used after it had been moved from";

/// With the lock held.
group_generation& current_generation(group_state& state) {
  if (state.current == nullptr) {
    auto made = std::make_unique<group_generation>(state);
    made->native = TRACED(CreateThreadpoolCleanupGroup)();
    if (made->native == nullptr) {
      throw_last_error("CreateThreadpoolCleanupGroup");
    }
    state.current = made.release();
  }
  return *state.current;
}

/// With the lock held. The generation's reference to the record has been counted.
template <class Context>
void enter(group_generation& generation, Context& context, member_record& record,
           const callback_environment& environment) {
  generation.members.push_back(&record);
  try {
    context.group = &generation;
    record.generation = &generation;
    TP_CALLBACK_ENVIRON_V3 native = *native_for_creation(environment);
    SetThreadpoolCallbackCleanupGroup(&native, generation.native, nullptr);
    create_native(context, &native);
    recorder::note_site_of<recorder::action::created>(context);
    recorder::note<recorder::kind::group, recorder::action::member>(&generation.of,
                                                                    reinterpret_cast<std::uintptr_t>(&record.context));
  } catch (...) {
    generation.members.pop_back();
    throw;
  }
}

/// Takes over the context, also when it throws.
template <class Context>
detail::member_reference add_to(group_state* held, Context& context, const callback_environment& environment) {
  require_not_moved_from(held, moved_from);
  group_state& state = *held;
  try {
    adopt(context, environment);
    auto record = std::make_unique<member_record>(context, detail::member_functions_of<Context>);
    record->references.add();  // for the handle
    {
      const std::lock_guard guard(state.mutex);
      enter(current_generation(state), context, *record, environment);
    }
    return detail::member_reference(*record.release());
  } catch (...) {
    give_back(context);  // not under the lock: its callable may do anything
    throw;
  }
}

/// Closes the members that there are. Returns whether there were any.
bool close_current(group_state& state, bool cancel_pending) noexcept {
  group_generation* generation;
  {
    const std::lock_guard guard(state.mutex);
    generation = std::exchange(state.current, nullptr);
    ++state.closings;
  }
  if (generation != nullptr) {
    recorder::note<recorder::kind::group, recorder::action::close_begin>(&state, cancel_pending ? 1 : 0);
    close_natives(*generation, cancel_pending);
  }
  {
    std::unique_lock lock(state.mutex);
    if (--state.closings == 0) {
      state.closed.notify_all();
    } else {
      state.closed.wait(lock, [&] { return state.closings == 0; });
    }
  }
  // After the closing counts as over, since what the callables' destructors do includes closing the group.
  if (generation != nullptr) {
    recorder::note<recorder::kind::group, recorder::action::close_end>(&state);
    destroy_members(generation);
  }
  return generation != nullptr;
}

/// The body of the assignment and of the destructor.
void replace(group_state*& held, group_state* with) noexcept {
  if (held != nullptr) {
    if (runs_in_callback_of(*held)) {
      fail_fast("cleanup_group", held->created_at,
                "is being destroyed inside a callback of one of its members, and would wait for itself for ever; let "
                "another thread destroy it");
    }
    // Callbacks, and the destructors of their state, may create members, and find this object while they do.
    while (close_current(*held, false)) {
    }
  }
  if (held != nullptr) {
    recorder::note<recorder::kind::group, recorder::action::destroyed>(held);
  }
  delete std::exchange(held, with);
}

}  // namespace

cleanup_group::cleanup_group(const std::source_location& where) : state_(new group_state(where)) {
  recorder::note<recorder::kind::group, recorder::action::created>(
      state_, reinterpret_cast<std::uintptr_t>(where.file_name()), where.line());
}

cleanup_group& cleanup_group::operator=(cleanup_group&& other) noexcept {
  if (this != &other) {
    replace(state_, std::exchange(other.state_, nullptr));
  }
  return *this;
}

cleanup_group::~cleanup_group() { replace(state_, nullptr); }

detail::member_reference cleanup_group::add(detail::work_context& context, const callback_environment& environment) {
  return add_to(state_, context, environment);
}

detail::member_reference cleanup_group::add(detail::timer_context& context, const callback_environment& environment) {
  return add_to(state_, context, environment);
}

detail::member_reference cleanup_group::add(detail::periodic_timer_context& context,
                                            const callback_environment& environment) {
  return add_to(state_, context, environment);
}

detail::member_reference cleanup_group::add(detail::wait_context& context, const callback_environment& environment) {
  return add_to(state_, context, environment);
}

void cleanup_group::close(bool cancel_pending) {
  require_not_moved_from(state_, moved_from);
  if (runs_in_callback_of(*state_)) {
    throw std::system_error(
        std::make_error_code(std::errc::resource_deadlock_would_occur),
        "cleanup_group::close_members inside a callback of a member of the group, " + created_at(state_->created_at));
  }
  close_current(*state_, cancel_pending);
}

}  // namespace tidepool
