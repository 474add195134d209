// What can be misused into undefined behaviour: everything that deals in raw handles. Nothing outside this namespace
// can, so a search for "unsafe" finds the places that need a second look.
#pragma once

#include <cstdint>
#include <optional>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/endpoint.hpp"
#include "tidepool/event.hpp"
#include "tidepool/io.hpp"
#include "tidepool/members.hpp"
#include "tidepool/native.hpp"
#include "tidepool/periodic_timer.hpp"
#include "tidepool/pool.hpp"
#include "tidepool/timer.hpp"
#include "tidepool/unsafe_submit.hpp"
#include "tidepool/wait.hpp"
#include "tidepool/waitable_handle.hpp"
#include "tidepool/work.hpp"

namespace tidepool::unsafe {

// ---- callback environments -----------------------------------------------------------------------------

/// Sets a pool that somebody else owns (null: the default pool) in place of any other. The caller keeps it open until
/// the last object made from the environment, or from a copy of it, is gone and the last one-off has run.
/// Win32: SetThreadpoolCallbackPool.
void set_pool(callback_environment& environment, native::pool pool) noexcept;

/// Makes the objects that are created from the environment members of somebody else's cleanup group (null: of none).
///
/// The group's owner promises to close its members only when nothing uses them any more, to close the group after that,
/// and to disown() each object that the closing of the members has released. `cancelled`, if not null, is called as for
/// any group; the object context it receives means nothing outside tidepool. The callable of a one-off that the group
/// cancels is neither run nor destroyed: it leaks; and the pool of a wait that it cancels is not repaired afterwards
/// (see wait::try_cancel_pending()). Win32: SetThreadpoolCallbackCleanupGroup.
void set_cleanup_group(callback_environment& environment, native::cleanup_group group,
                       native::cleanup_group_cancel_callback cancelled) noexcept;

/// The native environment, for settings that the class does not offer. It must stay a valid one, of version 3. Whatever
/// is written to its pool or its library is overwritten by the class's own setters, but keeps nothing alive.
[[nodiscard]] native::callback_environment native_environment(callback_environment& environment) noexcept;

// ---- native handles, all of them still owned by the object -----------------------------------------------

[[nodiscard]] native::pool native_handle(const pool& of) noexcept;
[[nodiscard]] native::work native_handle(const work& of) noexcept;
[[nodiscard]] native::timer native_handle(const timer& of) noexcept;
[[nodiscard]] native::timer native_handle(const periodic_timer& of) noexcept;
[[nodiscard]] native::wait native_handle(const wait& of) noexcept;
[[nodiscard]] native::handle native_handle(const waitable_handle& of) noexcept;
[[nodiscard]] native::handle native_handle(const event& of) noexcept;
[[nodiscard]] native::handle native_handle(const endpoint& of) noexcept;
[[nodiscard]] native::io native_handle(const io& of) noexcept;
[[nodiscard]] native::callback_instance native_handle(callback_instance& of) noexcept;

/// wait::try_cancel_pending() without what that does for the pool afterwards, which may then never run anything again.
void try_cancel_pending_without_healing(wait& what);
void try_cancel_pending_without_healing(const wait_member& what);

/// For an object whose native one has been released by its cleanup group, or by any other call of the native API:
/// destroys the callable, closes a wait's handle, and nothing else. No callback of the object may be queued or running.
/// The object is then as if moved from.
void disown(work& of) noexcept;
void disown(timer& of) noexcept;
void disown(periodic_timer& of) noexcept;
void disown(wait& of) noexcept;

// ---- what a wait can wait for ------------------------------------------------------------------------------

/// Takes over a handle that CloseHandle closes. The caller vouches that it is his to give, and that its object can be
/// waited for in the thread pool: not a mutex, whose owner would be a thread of the pool, and not something that is never
/// signalled in the first place.
///
/// Throws std::system_error (code ERROR_INVALID_HANDLE of win32_category()), and takes over nothing, when it is null,
/// INVALID_HANDLE_VALUE or no open handle.
[[nodiscard]] waitable_handle assume_waitable(native::handle handle);

/// The same for a handle with a close routine of its own, such as FindCloseChangeNotification. The routine is called
/// exactly once, after the last callback of the wait that the handle is given to, whether that is destroyed, assigned to
/// or could not even be made. Throws std::system_error also when `close` is null (std::errc::invalid_argument).
[[nodiscard]] waitable_handle assume_waitable_with(native::handle handle, native::close_routine close);

/// Gives the handle to the caller, who has to CloseHandle it, and leaves `from` as if moved from. Refuses, by returning
/// nothing and leaving `from` as it is, when that would be wrong: the handle has a close routine of its own, or is an
/// event's, which its copies still use.
[[nodiscard]] std::optional<native::handle> into_handle(waitable_handle&& from) noexcept;

// ---- overlapped I/O ------------------------------------------------------------------------------------

/// Takes over a handle or socket that was opened for overlapped use and is bound to no completion port. The caller vouches
/// for that, and for the kind. Throws std::system_error (code ERROR_INVALID_HANDLE of win32_category()), and takes over
/// nothing, when it is null, INVALID_HANDLE_VALUE or no open handle.
[[nodiscard]] endpoint adopt_handle(native::handle handle, endpoint_kind kind);

// Requests of any kind: see tidepool/unsafe_submit.hpp.

// ---- when the callback returns ----------------------------------------------------------------------------
// The handle must be valid when the callback returns. Each may be called once per run; what happens when it is called
// again differs between systems.

/// Win32: SetEventWhenCallbackReturns.
void set_event_when_returns(callback_instance& instance, native::handle event) noexcept;

/// Win32: ReleaseSemaphoreWhenCallbackReturns.
void release_semaphore_when_returns(callback_instance& instance, native::handle semaphore,
                                    std::uint32_t count) noexcept;

/// The callback's thread must own the mutex. Win32: ReleaseMutexWhenCallbackReturns.
void release_mutex_when_returns(callback_instance& instance, native::handle mutex) noexcept;

/// The callback's thread must own the critical section. Win32: LeaveCriticalSectionWhenCallbackReturns.
void leave_critical_section_when_returns(callback_instance& instance, native::critical_section section) noexcept;

/// Gives back one reference to the module. Win32: FreeLibraryWhenCallbackReturns.
void free_library_when_returns(callback_instance& instance, native::module module) noexcept;

}  // namespace tidepool::unsafe
