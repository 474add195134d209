// What the handlers of I/O are given.
#pragma once

#include <cstddef>
#include <system_error>

#include "tidepool/buffer.hpp"
#include "tidepool/endpoint.hpp"

namespace tidepool {

/// A read or write that is over. Its handler gets it, and with it the buffer back that it was started with.
///
/// Errors are Win32 codes in win32_category(), the same on both platforms:
///
/// | | | compares equal to |
/// |---|---|---|
/// | ERROR_HANDLE_EOF | a read at or past the end of a file | |
/// | ERROR_BROKEN_PIPE, ERROR_NO_DATA | the other end of a pipe is closed | std::errc::broken_pipe |
/// | ERROR_OPERATION_ABORTED | cancelled | std::errc::operation_canceled |
/// | ERROR_NETNAME_DELETED | the peer has reset the connection | std::errc::connection_reset |
/// | ERROR_CONNECTION_ABORTED | the connection is gone | std::errc::connection_aborted |
/// | WSAENOTCONN | the socket is not connected | std::errc::not_connected |
/// | WSAESHUTDOWN | shutdown_send() has been called | std::errc::broken_pipe |
/// | ERROR_NOT_SUPPORTED | the endpoint is of another kind | std::errc::not_supported |
///
/// A socket whose peer has stopped sending gives no error and no bytes.
template <class Buffer = buffer>
struct transfer {
  std::error_code error;  ///< None on success.
  std::size_t bytes = 0;  ///< How many were transferred, also when there was an error.
  Buffer buffer;          ///< The very one that was handed over. In several parts: filled from the first one on.
};

/// A connection that has been accepted, or the reason why none was.
struct acceptance {
  std::error_code error;
  endpoint connection;  ///< Holds something if and only if there was no error.
};

/// How connecting has ended.
struct connection_result {
  std::error_code error;
};

}  // namespace tidepool
