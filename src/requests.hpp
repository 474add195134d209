// How requests are handed to the system: the part that differs between platforms.
#pragma once

#include "tidepool/detail/connection_operation.hpp"
#include "tidepool/detail/transfer_operation.hpp"
#include "win32.hpp"

namespace tidepool::system {

/// Hands over what is left of a transfer, as far as one call goes, and notes in `asked` how much that is.
[[nodiscard]] detail::issued start_transfer(detail::transfer_request& what, HANDLE file, OVERLAPPED& overlapped,
                                            endpoint_kind kind) noexcept;

[[nodiscard]] detail::issued start_accept(detail::accept_request& what, HANDLE listener,
                                          OVERLAPPED& overlapped) noexcept;
/// What an accept has come to: makes the connection if it came to one. Returns the error.
[[nodiscard]] std::uint32_t finish_accept(detail::accept_request& what, detail::outcome how) noexcept;

[[nodiscard]] detail::issued start_connect(detail::connect_request& what, HANDLE socket,
                                           OVERLAPPED& overlapped) noexcept;
/// The socket is connected; returns the error of what is left to be done.
[[nodiscard]] std::uint32_t finish_connect(HANDLE socket) noexcept;

/// shutdown() of the sending half; returns the error.
[[nodiscard]] std::uint32_t stop_sending(HANDLE socket) noexcept;

/// A call that starts a request has returned that.
[[nodiscard]] inline detail::issued issued_by(BOOL succeeded) noexcept {
  const DWORD error = succeeded ? ERROR_SUCCESS : GetLastError();
  if (error == ERROR_SUCCESS || error == ERROR_IO_PENDING) {
    return {};  // the completion comes also when the call has succeeded
  }
  return {false, {error, 0}};
}

[[nodiscard]] inline detail::issued refused(std::uint32_t error) noexcept { return {false, {error, 0}}; }

}  // namespace tidepool::system
