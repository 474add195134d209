// Callback sources that end together.
#pragma once

#include <chrono>
#include <source_location>
#include <utility>

#include "tidepool/callback_environment.hpp"
#include "tidepool/members.hpp"
#include "tidepool/periodic_timer.hpp"
#include "tidepool/timer.hpp"
#include "tidepool/wait.hpp"
#include "tidepool/work.hpp"

namespace tidepool {

namespace detail {

struct group_state;

template <class...>
inline constexpr bool group_takes_io = false;

}  // namespace detail

/// Creates and owns work, timers, periodic timers and waits, its *members*, and ends them as a unit. Whoever creates a
/// member gets a light handle to it (work_member and so on).
///
/// **close_members()** ends what there is: it suppresses what the members' callbacks want to have armed, lets what is
/// queued run (or drops it), waits until no callback of any member is queued or running, releases all native objects
/// together, and then destroys the callables and closes the handles that waits own, the last created first, outside every
/// lock. From its beginning on handles of these members throw; see members.hpp for what the members' own callbacks may
/// still do.
///
/// What the callbacks of members submit while they are being drained runs too: a pipeline of work empties itself. So a
/// callback that always submits itself anew keeps the closing from coming to an end, as it would with a work alone; timers
/// and waits do not. With `cancel_pending` it is dropped.
///
/// The group is empty afterwards, and can have new members. A member that another thread, or a callback, creates during
/// the closing is either ended with the others or belongs to the group as it is afterwards.
///
/// **The destructor**, and the assignment for what the group held before, does close_members(false) until there is
/// nothing left to close: also what callbacks have created meanwhile.
///
/// A group that is closed by a callback of one of its members would wait for itself for ever: close_members() throws
/// std::system_error (std::errc::resource_deadlock_would_occur) instead, and a destructor or an assignment ends the
/// process with a message that names the place where the group was created. So it is for a callback that has called
/// callback_instance::disassociate(): a drain of its object no longer waits for it, but the closing of its group does.
///
/// An io can not be a member: a request that is outstanding can not be released with the others.
///
/// Thread safety: any thread may call any member function at any time, callbacks of members included, unless the group
/// is being assigned, moved or destroyed. While it is being assigned or destroyed, its members' callbacks and the
/// destructors of their state may still create members. A moved-from group can be destroyed and assigned to; any other
/// use of it ends the process with a message.
///
/// Cost: a member costs what the object alone costs and one small allocation more; closing takes time in proportion to the
/// number of members.
///
/// Win32: PTP_CLEANUP_GROUP.
class cleanup_group {
 public:
  /// `where` is named in messages about the group. Throws std::bad_alloc. Win32: CreateThreadpoolCleanupGroup, which is
  /// called when the first member is created.
  explicit cleanup_group(const std::source_location& where = std::source_location::current());

  /// The object takes over the other's members; running callbacks do not notice.
  cleanup_group(cleanup_group&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}

  /// Ends the members that the object held before, as the destructor does.
  cleanup_group& operator=(cleanup_group&& other) noexcept;

  cleanup_group(const cleanup_group&) = delete;
  cleanup_group& operator=(const cleanup_group&) = delete;

  /// Closes the members, draining; see above.
  ~cleanup_group();

  // The functions that create take what the constructors of work, timer, periodic_timer and wait take, and throw what these
  // throw. A cleanup group that the environment has been given (unsafe::set_cleanup_group) does not get the object.

  /// See work.
  template <class F>
  [[nodiscard]] work_member create_work(F&& callable, const callback_environment& environment = {},
                                        const std::source_location& where = std::source_location::current()) {
    return work_member(add(*detail::make_work_context(std::forward<F>(callable), where), environment));
  }

  /// See timer.
  template <class F>
  [[nodiscard]] timer_member create_timer(F&& callable, const callback_environment& environment = {},
                                          const std::source_location& where = std::source_location::current()) {
    return timer_member(add(*detail::make_timer_context(std::forward<F>(callable), where), environment));
  }

  /// See periodic_timer.
  template <class Rep, class Period, class F>
  [[nodiscard]] periodic_timer_member create_periodic_timer(
      std::chrono::duration<Rep, Period> period, F&& callable, const callback_environment& environment = {},
      const std::source_location& where = std::source_location::current()) {
    return periodic_timer_member(
        add(*detail::make_periodic_timer_context(detail::period_length(period), std::forward<F>(callable), where),
            environment));
  }

  /// See wait.
  template <class F>
  [[nodiscard]] wait_member create_wait(waitable_handle what, F&& callable,
                                        const callback_environment& environment = {},
                                        const std::source_location& where = std::source_location::current()) {
    return wait_member(add(*detail::make_wait_context(std::move(what), std::forward<F>(callable), where), environment));
  }

  /// Does not compile, and says why.
  template <class... Arguments>
  void create_io(Arguments&&...) {
    static_assert(
        detail::group_takes_io<Arguments...>,
        "tidepool: an io is not a member of a cleanup_group: a request that is outstanding can not be released "
        "together with others, so an io ends by itself, by io::run_down() or by its destructor");
  }

  /// Ends all members; see above. With `cancel_pending` callbacks that are queued and have not started are dropped instead
  /// of run. Handles that the caller names are taken for given up: clang's consumed analysis objects to their use
  /// afterwards. Naming them changes nothing else.
  ///
  /// Blocks until no callback of any member is running, and until closings that other threads have begun are over; these
  /// threads may still be destroying the callables then. Throws as described above when called by the callback of a
  /// member. Win32: CloseThreadpoolCleanupGroupMembers.
  template <class... Handles>
  void close_members(bool cancel_pending, TIDEPOOL_CONSUMED_AFTER Handles&... handles) {
    close(cancel_pending);
    (handles.give_up(), ...);  // which is what that analysis wants to see
  }

 private:
  // Take over the context, also when they throw.
  detail::member_reference add(detail::work_context& context, const callback_environment& environment);
  detail::member_reference add(detail::timer_context& context, const callback_environment& environment);
  detail::member_reference add(detail::periodic_timer_context& context, const callback_environment& environment);
  detail::member_reference add(detail::wait_context& context, const callback_environment& environment);

  void close(bool cancel_pending);

  detail::group_state* state_;
};

}  // namespace tidepool
