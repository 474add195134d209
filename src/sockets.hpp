// The socket API's names, and its errors as Win32 codes.
#pragma once

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>

#include <mswsock.h>
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#endif

#include <cstdint>
#include <system_error>

namespace tidepool::system {

/// What the socket function that has just failed says: a Win32 code, the same as a completion would have.
[[nodiscard]] std::uint32_t last_socket_error() noexcept;

[[noreturn]] void throw_last_socket_error(const char* what);

}  // namespace tidepool::system
