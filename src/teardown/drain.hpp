// The drain of work, timers and waits. docs/design/teardown.md says why it is right.
//
// A `Context` has these functions, found by its type: wait_for_callbacks(context, cancel_pending),
// close_native(context). One whose callbacks can arm it again also has a `gate`, and disarm(context).
#pragma once

#include <utility>

#include "heal/healing.hpp"
#include "teardown/callback_chain.hpp"
#include "teardown/context_lifetime.hpp"
#include "teardown/obligation.hpp"
#include "teardown/self_drain.hpp"
#include "trace/objects.hpp"

namespace tidepool::detail {

/// Whether disarming leaves alone what is queued already. The system's timers drop it.
template <class Context>
inline constexpr bool disarming_spares_what_is_queued = true;

/// Whether callbacks can arm the object again.
template <class Context>
concept rearming = requires(Context& context) { context.gate; };

/// Whether its pool is repaired when what is queued there has been dropped.
template <class Context>
concept healed = requires(Context& context) { context.repair; };

}  // namespace tidepool::detail

namespace tidepool {

/// A drain begins: callbacks no longer arm the object.
template <class Context>
void close_gate(Context& context) noexcept {
  if constexpr (detail::rearming<Context>) {
    context.gate.close();
  }
}

/// Lets what is queued run, and leaves the object disarmed. The gate is closed.
template <class Context>
void run_out(Context& context) noexcept {
  recorder::note_of<recorder::action::drain_begin>(context);
  if constexpr (detail::rearming<Context>) {
    if constexpr (!detail::disarming_spares_what_is_queued<Context>) {
      wait_for_callbacks(context, false);
    }
    disarm(context);
  }
  wait_for_callbacks(context, false);
  recorder::note_of<recorder::action::drain_end>(context);
}

/// Waits for what is queued, or drops it, and waits for what runs.
template <class Context>
void wait_recorded(Context& context, bool cancel_pending) noexcept {
  recorder::note_of<recorder::action::drain_begin>(context, cancel_pending ? 1 : 0);
  wait_for_callbacks(context, cancel_pending);
  recorder::note_of<recorder::action::drain_end>(context);
}

/// Drops what is queued, and waits for what runs. That may have stalled the pool, which is noted before, since it may take as
/// long as callbacks run, and after, since only what is repaired after it counts.
template <class Context>
void drop_pending(Context& context, [[maybe_unused]] bool heal = true) noexcept {
  const auto note = [&]() noexcept {
    if constexpr (detail::healed<Context>) {
      if (heal) {
        heal::note_cancelled(context.repair, context.pool);
      }
    }
  };
  note();
  wait_recorded(context, true);
  note();
}

/// The body of stop_and_drain(). `function` is its public name.
template <class Context>
void stop_and_drain(Context& context, const char* function) {
  refuse_self_drain(context, function);
  if constexpr (detail::rearming<Context>) {
    context.gate.close();
    settle_drain(context);  // what others arm from now on may outlive the drain
    run_out(context);
    context.gate.open();
  } else {
    run_out(context);
    settle_drain(context);  // what was submitted meanwhile has run
  }
}

/// The body of the functions that only wait. They leave nothing of an object that can not be armed.
template <class Context>
void drain(Context& context, bool cancel_pending, const char* function) {
  refuse_self_drain(context, function);
  wait_recorded(context, cancel_pending);
  if constexpr (!detail::rearming<Context>) {
    settle_drain(context);
  }
}

/// The body of everything that arms: on behalf of one of the object's callbacks only while no drain is in progress, for
/// anybody else always.
template <class Context, class Arm>
void arm_unless_drained(Context& context, Arm arm) noexcept {
  if (runs_on_this_thread(context)) {
    if (!context.gate.rearm(arm)) {
      recorder::note_of<recorder::action::rearm_suppressed>(context);
    }
  } else {
    arm();
  }
}

// The teardown, in the order that every callback source keeps: let what is queued run, wait for it, release the native
// object, destroy the callback's state. The gate stays closed.

template <class Context>
void let_everything_run(Context& context) noexcept {
  fail_fast_on_self_drain(context);
  recorder::note_of<recorder::action::destroy_begin>(context);
  const bool owed = owes_drain(context);  // read first, since callbacks that run meanwhile settle it
  close_gate(context);
  run_out(context);
  if (owed) {
    report_owed_drain(context);
  }
}

/// Nothing reaches the native object any more, which is about to be released.
template <class Context>
void end_use(Context& context) noexcept {
  if constexpr (detail::rearming<Context>) {
    context.gate.end();
  }
  if constexpr (detail::healed<Context>) {
    heal::end(context.repair);
  }
}

/// The state may have to wait for a run that has been disassociated, and is then destroyed by that one.
template <class Context>
void release(Context& context) noexcept {
  end_use(context);
  close_native(context);
  recorder::note_of<recorder::action::closed>(context);
  give_back(context);
}

/// The body of the assignment: `held` is the object's context, which may be null.
template <class Context>
void replace(Context*& held, Context* with) noexcept {
  // Callbacks that use the object find the old one until they are over, and the destructor of their state the new.
  if (held != nullptr) {
    let_everything_run(*held);
  }
  Context* const before = held;
  held = with;
  if (before != nullptr) {
    release(*before);
  }
}

/// The body of the destructor.
template <class Context>
void tear_down(Context*& held) noexcept {
  replace(held, static_cast<Context*>(nullptr));
}

/// For an object whose native one has been released by somebody else: what is left of it, for give_back().
template <class Context>
[[nodiscard]] Context* disown(Context*& held) noexcept {
  Context* const left = std::exchange(held, nullptr);
  if (left != nullptr) {
    close_gate(*left);
    end_use(*left);
  }
  return left;
}

}  // namespace tidepool
