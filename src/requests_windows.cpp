// Requests on Windows.
#ifdef _WIN32

#include "sockets.hpp"  // before <windows.h>

#include <algorithm>
#include <limits>

#include "requests.hpp"
#include "tidepool/detail/access.hpp"

namespace tidepool::system {

namespace {

using detail::access;
using detail::issued;
using detail::outcome;
using detail::transfer_kind;

SOCKET socket_of(HANDLE handle) noexcept { return reinterpret_cast<SOCKET>(handle); }

/// What a call takes at most: a round number below what a DWORD holds.
constexpr std::size_t most = std::size_t{1} << 31;

DWORD length_of(const detail::transfer_part& part) noexcept { return static_cast<DWORD>(std::min(part.size, most)); }

/// A socket function that starts a request has returned that.
issued issued_by_socket(bool succeeded) noexcept {
  if (succeeded || WSAGetLastError() == WSA_IO_PENDING) {
    return {};
  }
  return refused(last_socket_error());
}

issued start_socket_transfer(detail::transfer_request& what, SOCKET socket, OVERLAPPED& overlapped) noexcept {
  constexpr std::size_t most_parts = 64;
  WSABUF parts[most_parts];  // copied by the call
  DWORD count = 0;
  while (count != most_parts && count != what.count) {
    const detail::transfer_part& each = what.parts[count];
    parts[count++] = {length_of(each), static_cast<char*>(each.data)};
    what.asked += length_of(each);
    if (each.size > most) {
      break;  // the next part would come too early
    }
  }
  DWORD flags = 0;
  const int result = what.kind == transfer_kind::receive
                         ? WSARecv(socket, parts, count, nullptr, &flags, &overlapped, nullptr)
                         : WSASend(socket, parts, count, nullptr, 0, &overlapped, nullptr);
  return issued_by_socket(result == 0);
}

/// Functions that Winsock hands out one by one. Those of the system's TCP serve all of its sockets.
template <class Function>
Function extension(SOCKET socket, GUID id) noexcept {
  Function found = nullptr;
  DWORD size = 0;
  WSAIoctl(socket, SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof id, &found, sizeof found, &size, nullptr, nullptr);
  return found;
}

/// ConnectEx wants a socket that is bound.
void bind_to_any(SOCKET socket, int family) noexcept {
  sockaddr_storage any{};
  any.ss_family = static_cast<ADDRESS_FAMILY>(family);
  const std::size_t size = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  ::bind(socket, reinterpret_cast<const sockaddr*>(&any), static_cast<int>(size));  // fails if it is already
}

}  // namespace

issued start_transfer(detail::transfer_request& what, HANDLE file, OVERLAPPED& overlapped,
                      endpoint_kind kind) noexcept {
  what.asked = 0;
  if (kind == endpoint_kind::socket) {
    return start_socket_transfer(what, socket_of(file), overlapped);
  }
  // One part at a time: files go on with the next one at its offset, and the parts of a pipe's have been gathered.
  const DWORD length = length_of(*what.parts);
  what.asked = length;
  const bool reads = what.kind == transfer_kind::read_at || what.kind == transfer_kind::read;
  return issued_by(reads ? ReadFile(file, what.parts->data, length, nullptr, &overlapped)
                         : WriteFile(file, what.parts->data, length, nullptr, &overlapped));
}

issued start_accept(detail::accept_request& what, HANDLE listener, OVERLAPPED& overlapped) noexcept {
  const SOCKET socket = socket_of(listener);
  static const auto accept_ex = extension<LPFN_ACCEPTEX>(socket, WSAID_ACCEPTEX);
  sockaddr_storage own{};
  int size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return refused(last_socket_error());
  }
  const SOCKET accepted =
      WSASocketW(own.ss_family, SOCK_STREAM, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (accepted == INVALID_SOCKET) {
    return refused(last_socket_error());
  }
  what.result.connection = access::make_endpoint(reinterpret_cast<HANDLE>(accepted), endpoint_kind::socket);
  constexpr DWORD room = sizeof(sockaddr_in6) + 16;
  static_assert(2 * room <= sizeof what.scratch);
  DWORD received = 0;
  return issued_by_socket(accept_ex(socket, accepted, what.scratch, 0, room, room, &received, &overlapped) != FALSE);
}

std::uint32_t finish_accept(detail::accept_request& what, outcome how) noexcept {
  if (how.error != ERROR_SUCCESS) {
    return how.error;
  }
  // Makes it a connected socket in the eyes of getpeername and shutdown.
  const SOCKET listener = socket_of(what.listener);
  const SOCKET accepted = socket_of(access::handle_of(what.result.connection));
  if (setsockopt(accepted, SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT, reinterpret_cast<const char*>(&listener),
                 sizeof listener) != 0) {
    return last_socket_error();
  }
  return ERROR_SUCCESS;
}

issued start_connect(detail::connect_request& what, HANDLE socket, OVERLAPPED& overlapped) noexcept {
  static const auto connect_ex = extension<LPFN_CONNECTEX>(socket_of(socket), WSAID_CONNECTEX);
  if (access::size_of(what.to) == 0) {
    return refused(ERROR_INVALID_PARAMETER);
  }
  const auto* const to = reinterpret_cast<const sockaddr*>(access::storage_of(what.to));
  bind_to_any(socket_of(socket), to->sa_family);
  DWORD sent = 0;
  return issued_by_socket(connect_ex(socket_of(socket), to, static_cast<int>(access::size_of(what.to)), nullptr, 0,
                                     &sent, &overlapped) != FALSE);
}

std::uint32_t finish_connect(HANDLE socket) noexcept {
  // As for an accepted one.
  const int result = setsockopt(socket_of(socket), SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, nullptr, 0);
  return result == 0 ? ERROR_SUCCESS : last_socket_error();
}

std::uint32_t stop_sending(HANDLE socket) noexcept {
  return ::shutdown(socket_of(socket), SD_SEND) == 0 ? ERROR_SUCCESS : last_socket_error();
}

}  // namespace tidepool::system

#endif
