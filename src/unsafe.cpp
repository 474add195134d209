#include "tidepool/unsafe.hpp"

#include "endpoint_system.hpp"
#include "last_error.hpp"
#include "native_environment.hpp"
#include "teardown/callback_chain.hpp"
#include "teardown/context_lifetime.hpp"
#include "win32.hpp"

namespace tidepool::unsafe {

namespace {

using detail::access;

PTP_CALLBACK_INSTANCE instance_of(callback_instance& instance) noexcept {
  detail::callback_frame& frame = access::frame_of(instance);
  require_running_here(frame);
  return frame.instance;
}

void give_back_what_is_left(detail::callback_context* context) noexcept {
  if (context != nullptr) {
    give_back(*context);
  }
}

/// Whether a number names an open handle. Asks for nothing that could change its object.
bool is_open(HANDLE handle) noexcept {
  if (handle == nullptr || handle == INVALID_HANDLE_VALUE) {
    return false;
  }
#ifdef _WIN32
  DWORD flags = 0;
  return GetHandleInformation(handle, &flags) != FALSE;
#else
  return CompareObjectHandles(handle, handle) != FALSE;
#endif
}

void require_open(HANDLE handle, const char* function) {
  if (!is_open(handle)) {
    throw std::system_error(win32_error(ERROR_INVALID_HANDLE), function);
  }
}

}  // namespace

void set_pool(callback_environment& environment, native::pool pool) noexcept {
  SetThreadpoolCallbackPool(&native_of(environment), pool);
  access::pool_of(environment).reset();
}

void set_cleanup_group(callback_environment& environment, native::cleanup_group group,
                       native::cleanup_group_cancel_callback cancelled) noexcept {
  SetThreadpoolCallbackCleanupGroup(&native_of(environment), group, cancelled);
}

native::callback_environment native_environment(callback_environment& environment) noexcept {
  return &native_of(environment);
}

native::pool native_handle(const pool& of) noexcept { return access::owner_of(of).get(); }

native::work native_handle(const work& of) noexcept { return access::native_of(of); }

native::timer native_handle(const timer& of) noexcept { return access::native_of(of); }

native::timer native_handle(const periodic_timer& of) noexcept { return access::native_of(of); }

native::wait native_handle(const wait& of) noexcept { return access::native_of(of); }

native::handle native_handle(const waitable_handle& of) noexcept { return access::handle_of(of); }

native::handle native_handle(const event& of) noexcept { return access::handle_of(of); }

native::handle native_handle(const endpoint& of) noexcept { return access::handle_of(of); }

native::io native_handle(const io& of) noexcept { return access::native_of(of); }

native::callback_instance native_handle(callback_instance& of) noexcept { return instance_of(of); }

void try_cancel_pending_without_healing(wait& what) { access::cancel_without_healing(what); }

void try_cancel_pending_without_healing(const wait_member& what) { access::cancel_without_healing(what); }

void disown(work& of) noexcept { give_back_what_is_left(access::take_context(of)); }

void disown(timer& of) noexcept { give_back_what_is_left(access::take_context(of)); }

void disown(periodic_timer& of) noexcept { give_back_what_is_left(access::take_context(of)); }

void disown(wait& of) noexcept { give_back_what_is_left(access::take_context(of)); }

waitable_handle assume_waitable(native::handle handle) {
  require_open(handle, "unsafe::assume_waitable");
  return access::waitable(handle, nullptr);
}

waitable_handle assume_waitable_with(native::handle handle, native::close_routine close) {
  require_open(handle, "unsafe::assume_waitable_with");
  if (close == nullptr) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "unsafe::assume_waitable_with was given no close routine");
  }
  return access::waitable(handle, close);
}

std::optional<native::handle> into_handle(waitable_handle&& from) noexcept {
  const native::handle handle = access::release_handle(from);
  return handle != nullptr ? std::optional(handle) : std::nullopt;
}

endpoint adopt_handle(native::handle handle, endpoint_kind kind) {
  require_open(handle, "unsafe::adopt_handle");
  return access::make_endpoint(handle, kind, kind == endpoint_kind::socket && system::is_unconnected(handle));
}

void set_event_when_returns(callback_instance& instance, native::handle event) noexcept {
  SetEventWhenCallbackReturns(instance_of(instance), event);
}

void release_semaphore_when_returns(callback_instance& instance, native::handle semaphore,
                                    std::uint32_t count) noexcept {
  ReleaseSemaphoreWhenCallbackReturns(instance_of(instance), semaphore, count);
}

void release_mutex_when_returns(callback_instance& instance, native::handle mutex) noexcept {
  ReleaseMutexWhenCallbackReturns(instance_of(instance), mutex);
}

void leave_critical_section_when_returns(callback_instance& instance, native::critical_section section) noexcept {
  LeaveCriticalSectionWhenCallbackReturns(instance_of(instance), section);
}

void free_library_when_returns(callback_instance& instance, native::module module) noexcept {
  FreeLibraryWhenCallbackReturns(instance_of(instance), module);
}

}  // namespace tidepool::unsafe
