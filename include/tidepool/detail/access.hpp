// The one door into the public classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/event.hpp"
#include "tidepool/pool.hpp"

namespace tidepool {
class endpoint;
enum class endpoint_kind;
class io;
class operation_id;
class periodic_timer;
class socket_address;
class timer;
class wait;
class wait_member;
class waitable_handle;
class work;
}  // namespace tidepool

namespace tidepool::detail {

struct callback_context;
struct io_context;
struct operation_base;

struct access {
  /// What a callback is given for its run.
  template <class Token, class Frame>
  static Token token_of(Frame& frame) noexcept {
    return Token(frame);
  }

  static callback_frame& frame_of(callback_instance& instance) noexcept { return instance.frame_; }

  static const std::shared_ptr<::_TP_POOL>& owner_of(const pool& of) noexcept { return of.native_; }

  static std::byte* storage_of(callback_environment& of) noexcept { return of.native_; }
  static const std::byte* storage_of(const callback_environment& of) noexcept { return of.native_; }
  static std::shared_ptr<::_TP_POOL>& pool_of(callback_environment& of) noexcept { return of.pool_; }
  static const std::shared_ptr<::_TP_POOL>& pool_of(const callback_environment& of) noexcept { return of.pool_; }
  static const std::shared_ptr<::HINSTANCE__>& library_of(const callback_environment& of) noexcept {
    return of.library_;
  }

  static native::handle handle_of(const event& of) noexcept { return of.handle_.get(); }
  static const std::shared_ptr<void>& owner_of(const event& of) noexcept { return of.handle_; }

  static native::work native_of(const work& of) noexcept;
  static native::timer native_of(const timer& of) noexcept;
  static native::timer native_of(const periodic_timer& of) noexcept;
  static native::wait native_of(const wait& of) noexcept;

  static void cancel_without_healing(wait& what);
  static void cancel_without_healing(const wait_member& what);

  // Leave `of` as if moved from.
  static callback_context* take_context(work& of) noexcept;
  static callback_context* take_context(timer& of) noexcept;
  static callback_context* take_context(periodic_timer& of) noexcept;
  static callback_context* take_context(wait& of) noexcept;

  static native::handle handle_of(const waitable_handle& of) noexcept;
  /// Takes ownership of the handle. `close` may be null: CloseHandle.
  static waitable_handle waitable(native::handle owned, native::close_routine close) noexcept;
  /// Gives it up, unless something else than CloseHandle has to close it; null then.
  static native::handle release_handle(waitable_handle& of) noexcept;

  static native::handle handle_of(const endpoint& of) noexcept;
  /// Takes ownership of the handle, which is fit for overlapped requests.
  static endpoint make_endpoint(native::handle owned, endpoint_kind kind, bool unconnected = false) noexcept;
  static void close(endpoint& what) noexcept;
  static bool is_unconnected(const endpoint& of) noexcept;

  static native::io native_of(const io& of) noexcept;
  static native::handle handle_of(const io_context& of) noexcept;
  static operation_id start(io& on, operation_base& what);

  static operation_id make_id(std::uint32_t slot, std::uint64_t generation) noexcept;
  static std::uint32_t slot_of(const operation_id& of) noexcept;
  static std::uint64_t generation_of(const operation_id& of) noexcept;

  /// See src/teardown/obligation.hpp.
  static bool owes_drain(const work& of) noexcept;
  static bool owes_drain(const timer& of) noexcept;
  static bool owes_drain(const periodic_timer& of) noexcept;
  static bool owes_drain(const wait& of) noexcept;
  static bool owes_drain(const io& of) noexcept;

  /// Whether a wait of its pool was cancelled, and no repair has begun since.
  static bool owes_repair(const wait& of) noexcept;

  /// A struct sockaddr of `size` bytes.
  static socket_address make_address(const void* native, std::size_t size) noexcept;
  static const std::byte* storage_of(const socket_address& of) noexcept;
  static std::size_t size_of(const socket_address& of) noexcept;
};

}  // namespace tidepool::detail
