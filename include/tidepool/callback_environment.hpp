// Where and how callbacks run.
#pragma once

#include <cstddef>
#include <memory>

#include "tidepool/native.hpp"
#include "tidepool/pool.hpp"

namespace tidepool {

/// How urgent callbacks are: among those that are queued in a pool, the higher priority goes first.
enum class priority : int { high = 0, normal = 1, low = 2 };

/// The settings an object is made with: its pool, the priority of its callbacks, and hints. A fresh environment means
/// the process's default pool, normal priority and nothing else.
///
/// Constructors copy what they need, and change nothing: one environment serves any number of objects, and changing or
/// destroying it afterwards affects none of them. Environments and objects share ownership of the pool, so that no
/// order of destruction leaves an object on a dead pool.
///
/// Copies are independent of each other, except that they share the pool. A moved-from environment is unchanged.
///
/// Thread safety: as for int: any number of threads may read one environment at the same time, but one that changes it
/// must be alone.
///
/// Win32: TP_CALLBACK_ENVIRON_V3.
class callback_environment {
 public:
  /// Win32: InitializeThreadpoolEnvironment.
  callback_environment() noexcept;

  callback_environment(const callback_environment&) = default;
  callback_environment& operator=(const callback_environment&) = default;
  ~callback_environment() = default;

  /// Callbacks run in `where` from now on, of which the environment becomes an owner.
  /// Win32: SetThreadpoolCallbackPool.
  void set_pool(const pool& where) noexcept;

  /// Back to the process's default pool.
  void clear_pool() noexcept;

  /// Whether a pool is set, be it through set_pool or through tidepool::unsafe.
  [[nodiscard]] bool has_pool() const noexcept;

  /// Throws std::system_error (std::errc::invalid_argument) when `value` is none of the enumerators.
  /// Win32: SetThreadpoolCallbackPriority.
  void set_priority(priority value);

  [[nodiscard]] priority get_priority() const noexcept;

  /// Says that callbacks may take long, so that the pool does not count on their threads for others meanwhile. There
  /// is no way back. Win32: SetThreadpoolCallbackRunsLong.
  void set_runs_long() noexcept;

  [[nodiscard]] bool runs_long() const noexcept;

  /// Asks for threads that do not leave while idle, for callbacks that start something bound to their thread. There is
  /// no way back. On Linux nothing is bound to the thread that began it, and the flag is kept but changes nothing.
  /// Win32: SetThreadpoolCallbackPersistent.
  void set_persistent() noexcept;

  [[nodiscard]] bool persistent() const noexcept;

  /// Keeps the module that contains `address` (a function or an object in a DLL or shared library) loaded for as long
  /// as the environment, a copy of it or an object made from it exists, and until the last callback of such an object
  /// has returned to the pool. So a callback can never find its own code gone.
  ///
  /// Throws std::system_error when no loaded module contains the address. An environment that lives in the module itself
  /// keeps it loaded too: let such an environment be a local variable, or clear_library() it in time.
  /// Win32: GetModuleHandleEx, SetThreadpoolCallbackLibrary.
  void set_library_of(const void* address);

  void clear_library() noexcept;

  [[nodiscard]] bool has_library() const noexcept;

 private:
  friend struct detail::access;

  static constexpr std::size_t native_size = sizeof(void*) == 8 ? 72 : 40;

  alignas(void*) std::byte native_[native_size];  // a TP_CALLBACK_ENVIRON_V3
  // Owners of what native_ points to; null where it points to nothing, or to what tidepool::unsafe put there.
  std::shared_ptr<::_TP_POOL> pool_;
  std::shared_ptr<::HINSTANCE__> library_;
};

}  // namespace tidepool
