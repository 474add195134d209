#include "tidepool/callback_environment.hpp"

#include <new>
#include <system_error>
#include <type_traits>

#include "last_error.hpp"
#include "native_environment.hpp"
#include "teardown/fail_fast.hpp"

namespace tidepool {

namespace {

using detail::access;

const TP_CALLBACK_ENVIRON_V3& native_of(const callback_environment& environment) noexcept {
  return *std::launder(reinterpret_cast<const TP_CALLBACK_ENVIRON_V3*>(access::storage_of(environment)));
}

}  // namespace

TP_CALLBACK_ENVIRON_V3& native_of(callback_environment& environment) noexcept {
  return *std::launder(reinterpret_cast<TP_CALLBACK_ENVIRON_V3*>(access::storage_of(environment)));
}

PTP_CALLBACK_ENVIRON native_for_creation(const callback_environment& environment) noexcept {
  return const_cast<PTP_CALLBACK_ENVIRON>(&native_of(environment));
}

callback_environment::callback_environment() noexcept {
  static_assert(sizeof(TP_CALLBACK_ENVIRON_V3) == native_size);
  static_assert(alignof(TP_CALLBACK_ENVIRON_V3) <= alignof(void*));
  static_assert(std::is_trivially_copyable_v<TP_CALLBACK_ENVIRON_V3>);  // so that copying the bytes copies it
  InitializeThreadpoolEnvironment(::new (static_cast<void*>(native_)) TP_CALLBACK_ENVIRON_V3);
}

void callback_environment::set_pool(const pool& where) noexcept {
  const std::shared_ptr<::_TP_POOL>& owner = access::owner_of(where);
  require_not_moved_from(owner, "callback_environment::set_pool was given a pool that has been moved from");
  pool_ = owner;
  SetThreadpoolCallbackPool(&native_of(*this), owner.get());
}

void callback_environment::clear_pool() noexcept {
  SetThreadpoolCallbackPool(&native_of(*this), nullptr);
  pool_.reset();
}

bool callback_environment::has_pool() const noexcept { return native_of(*this).Pool != nullptr; }

void callback_environment::set_priority(priority value) {
  // The enumerators are the native values.
  static_assert(static_cast<int>(priority::high) == TP_CALLBACK_PRIORITY_HIGH);
  static_assert(static_cast<int>(priority::normal) == TP_CALLBACK_PRIORITY_NORMAL);
  static_assert(static_cast<int>(priority::low) == TP_CALLBACK_PRIORITY_LOW);
  if (value != priority::high && value != priority::normal && value != priority::low) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "callback_environment::set_priority");
  }
  SetThreadpoolCallbackPriority(&native_of(*this), static_cast<TP_CALLBACK_PRIORITY>(value));
}

priority callback_environment::get_priority() const noexcept {
  return static_cast<priority>(native_of(*this).CallbackPriority);
}

void callback_environment::set_runs_long() noexcept { SetThreadpoolCallbackRunsLong(&native_of(*this)); }

bool callback_environment::runs_long() const noexcept { return native_of(*this).u.s.LongFunction != 0; }

void callback_environment::set_persistent() noexcept {
  native_of(*this).u.s.Persistent = 1;  // SetThreadpoolCallbackPersistent, which not every SDK has
}

bool callback_environment::persistent() const noexcept { return native_of(*this).u.s.Persistent != 0; }

void callback_environment::set_library_of(const void* address) {
  HMODULE module = nullptr;
  if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, static_cast<LPCWSTR>(address), &module)) {
    throw_last_error("GetModuleHandleEx");
  }
  library_ = std::shared_ptr<::HINSTANCE__>(module, [](HMODULE owned) { FreeLibrary(owned); });
  SetThreadpoolCallbackLibrary(&native_of(*this), module);
}

void callback_environment::clear_library() noexcept {
  SetThreadpoolCallbackLibrary(&native_of(*this), nullptr);
  library_.reset();
}

bool callback_environment::has_library() const noexcept { return native_of(*this).RaceDll != nullptr; }

}  // namespace tidepool
