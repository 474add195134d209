// Requests of a program's own making. Part of tidepool/unsafe.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "tidepool/detail/handler.hpp"
#include "tidepool/io.hpp"
#include "tidepool/operation.hpp"

namespace tidepool::detail {
struct seam;
}  // namespace tidepool::detail

namespace tidepool::unsafe {

/// What the system said to a request.
class issued {
 public:
  /// There will be a completion: the call succeeded, or failed with ERROR_IO_PENDING.
  [[nodiscard]] static issued pending() noexcept { return issued({}); }
  /// There will be none, because of this error.
  [[nodiscard]] static issued refused(std::uint32_t error) noexcept { return issued({false, {error, 0}}); }
  /// There will be none, because it is done: the call succeeded, on a handle with FILE_SKIP_COMPLETION_PORT_ON_SUCCESS.
  [[nodiscard]] static issued done_at_once(std::size_t bytes) noexcept { return issued({false, {0, bytes}}); }

 private:
  friend struct detail::seam;

  explicit issued(detail::issued result) noexcept : result_(result) {}

  detail::issued result_;
};

/// A request that is over: its storage, to be used again or dropped, and what it has come to.
template <class Payload>
struct completed {
  operation<Payload> op;
  std::error_code error;
  std::size_t bytes = 0;
};

}  // namespace tidepool::unsafe

namespace tidepool::detail {

[[noreturn]] void fail_without_storage() noexcept;

/// The inside of unsafe::submit().
struct seam {
  template <class Payload, class Issue, class Done>
  static operation_id submit(io& on, operation<Payload>& op, Issue& issue, Done& done) {
    check_handler<Done, unsafe::completed<Payload>>();
    static_assert(std::is_nothrow_invocable_r_v<unsafe::issued, Issue&, native::handle, native::overlapped, Payload&>,
                  "tidepool: what issues a request is called with (native::handle, native::overlapped, Payload&), is "
                  "noexcept, and returns a tidepool::unsafe::issued");
    using end = completion<Payload, Done>;
    if (op.storage_ == nullptr) {
      fail_without_storage();
    }
    operation_storage<Payload>& mine = *op.storage_;
    static constexpr operation_functions functions{&issue_it<Payload, Issue>, nullptr, &end::complete, &end::discard};
    mine.functions = &functions;
    mine.issuer = std::addressof(issue);
    end::keep(mine, std::move(done));
    operation_id id;
    try {
      id = access::start(on, mine);
    } catch (...) {
      static_cast<void>(end::take(mine));
      throw;
    }
    static_cast<void>(op.storage_.release());
    return id;
  }

 private:
  template <class Payload, class Issue>
  static issued issue_it(operation_base& self, io_context& on, native::overlapped overlapped) noexcept {
    auto& mine = static_cast<operation_storage<Payload>&>(self);
    return std::invoke(*static_cast<Issue*>(mine.issuer), access::handle_of(on), overlapped, mine.payload).result_;
  }

  /// What is called in the end, in the operation's storage or by way of a pointer there.
  template <class Payload, class Done>
  struct completion {
    using storage = operation_storage<Payload>;
    static constexpr bool in_place = sizeof(Done) <= sizeof(storage::done) &&
                                     alignof(Done) <= alignof(std::max_align_t) &&
                                     std::is_nothrow_move_constructible_v<Done>;
    using kept = std::conditional_t<in_place, Done, std::unique_ptr<Done>>;

    static void keep(storage& in, Done&& done) {
      if constexpr (in_place) {
        ::new (static_cast<void*>(in.done)) kept(std::move(done));
      } else {
        ::new (static_cast<void*>(in.done)) kept(std::make_unique<Done>(std::move(done)));
      }
    }

    static kept take(storage& from) noexcept {
      kept& there = *std::launder(reinterpret_cast<kept*>(from.done));
      kept taken = std::move(there);
      there.~kept();
      return taken;
    }

    static void complete(operation_base& self, callback_frame& frame, outcome how) {
      auto& mine = static_cast<storage&>(self);
      kept done = take(mine);  // out of what it is about to be given, and may destroy
      unsafe::completed<Payload> result{operation<Payload>(operation_owner<storage>(&mine)), error_of(how), how.bytes};
      if constexpr (in_place) {
        call_handler(done, result, frame);
      } else {
        call_handler(*done, result, frame);
      }
    }

    static void discard(operation_base& self) noexcept {
      auto& mine = static_cast<storage&>(self);
      [[maybe_unused]] const kept done = take(mine);
      destroy_operation(mine);
    }
  };
};

}  // namespace tidepool::detail

namespace tidepool::unsafe {

/// Starts a request of any kind: the seam that the members of `io` are made of, and all that is said about them holds
/// here.
///
/// `issue(handle, overlapped, payload)` is called once, before this function returns: it makes the native call with the
/// endpoint's handle and the OVERLAPPED, which is zeroed but for what it sets, and says what came of it. It must not
/// throw. The caller vouches that it makes one request, of memory in the payload or that lives as long, and reports it
/// rightly.
///
/// `done(completed<Payload>)`, or `done(completed<Payload>, callback_instance&)`, is called once, on the pool; the
/// storage comes back through it, and goes with it if `done` does not keep it. While the io is being destroyed the
/// storage is destroyed instead.
///
/// Throws std::bad_alloc, and what moving `done` throws; `op` is as before then. Allocates nothing if `done` is no
/// larger than four pointers and can be moved without an exception. An `op` without storage ends the process with a
/// message.
template <class Payload, class Issue, class Done>
operation_id submit(io& on, operation<Payload>&& op, Issue issue, Done done) {
  return detail::seam::submit(on, op, issue, done);
}

}  // namespace tidepool::unsafe
