// Endpoints on Windows: CreateFile, named pipes, Winsock.
#ifdef _WIN32

#include <atomic>
#include <string>

#include "sockets.hpp"  // before <windows.h>

#include "endpoint_system.hpp"
#include "last_error.hpp"
#include "tidepool/detail/access.hpp"

namespace tidepool {

namespace {

using detail::access;

SOCKET socket_of(HANDLE handle) noexcept { return reinterpret_cast<SOCKET>(handle); }
HANDLE handle_of(SOCKET socket) noexcept { return reinterpret_cast<HANDLE>(socket); }

const sockaddr* native_of(const socket_address& of) noexcept {
  return reinterpret_cast<const sockaddr*>(access::storage_of(of));
}

int native_size_of(const socket_address& of) noexcept { return static_cast<int>(access::size_of(of)); }

/// Once in the process, and never undone.
void require_winsock() {
  static const int error = [] {
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data);
  }();
  if (error != 0) {
    throw std::system_error(win32_error(static_cast<std::uint32_t>(error)), "WSAStartup");
  }
}

endpoint make_socket(int family, endpoint_kind kind) {
  require_winsock();
  const SOCKET made = WSASocketW(family, SOCK_STREAM, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
  if (made == INVALID_SOCKET) {
    system::throw_last_socket_error("WSASocket");
  }
  return access::make_endpoint(handle_of(made), kind, kind == endpoint_kind::socket);
}

int family_of(const socket_address& of) noexcept {
  return access::size_of(of) == 0 ? AF_UNSPEC : native_of(of)->sa_family;
}

socket_address address_by(int(WSAAPI* function)(SOCKET, sockaddr*, int*), HANDLE socket, const char* name) {
  sockaddr_storage address{};
  int size = sizeof address;
  if (function(socket_of(socket), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    system::throw_last_socket_error(name);
  }
  return access::make_address(&address, static_cast<std::size_t>(size));
}

void send_at_once(const endpoint& socket) noexcept {
  const BOOL yes = TRUE;
  setsockopt(socket_of(access::handle_of(socket)), IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&yes),
             sizeof yes);
}

}  // namespace

namespace system {

HANDLE open_file(const std::filesystem::path& path, DWORD access, DWORD disposition) noexcept {
  if (path.native().find(L'\0') != std::wstring::npos) {
    SetLastError(ERROR_INVALID_NAME);
    return INVALID_HANDLE_VALUE;
  }
  return CreateFileW(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, disposition,
                     FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OVERLAPPED, nullptr);
}

endpoint_kind kind_of_file(HANDLE file) noexcept {
  return GetFileType(file) == FILE_TYPE_DISK ? endpoint_kind::file : endpoint_kind::pipe;
}

void close(HANDLE handle, endpoint_kind kind) noexcept {
  if (kind == endpoint_kind::socket || kind == endpoint_kind::listener) {
    closesocket(socket_of(handle));
  } else {
    CloseHandle(handle);
  }
}

bool is_unconnected(HANDLE socket) noexcept {
  sockaddr_storage address{};
  int size = sizeof address;
  return getpeername(socket_of(socket), reinterpret_cast<sockaddr*>(&address), &size) != 0 &&
         WSAGetLastError() == WSAENOTCONN;
}

socket_address local_address(HANDLE socket) { return address_by(&getsockname, socket, "getsockname"); }

socket_address peer_address(HANDLE socket) { return address_by(&getpeername, socket, "getpeername"); }

std::uint32_t last_socket_error() noexcept {
  const int error = WSAGetLastError();
  switch (error) {
    case WSAENOTSOCK: return ERROR_INVALID_HANDLE;
    case WSAEINVAL: return ERROR_INVALID_PARAMETER;
    case WSAEFAULT: return ERROR_NOACCESS;
    case WSAEMFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case WSAENOBUFS: return ERROR_NO_SYSTEM_RESOURCES;
    case WSAEOPNOTSUPP:
    case WSAEAFNOSUPPORT:
    case WSAEPROTONOSUPPORT: return ERROR_NOT_SUPPORTED;
    case WSAECONNRESET: return ERROR_NETNAME_DELETED;
    case WSAECONNREFUSED: return ERROR_CONNECTION_REFUSED;
    case WSAECONNABORTED: return ERROR_CONNECTION_ABORTED;
    case WSAENETUNREACH: return ERROR_NETWORK_UNREACHABLE;
    case WSAEHOSTUNREACH: return ERROR_HOST_UNREACHABLE;
    case WSAETIMEDOUT: return ERROR_SEM_TIMEOUT;
    default: return static_cast<std::uint32_t>(error);
  }
}

void throw_last_socket_error(const char* what) { throw std::system_error(win32_error(last_socket_error()), what); }

}  // namespace system

std::pair<endpoint, endpoint> endpoint::make_pipe() {
  static std::atomic<std::uint32_t> number{0};
  const std::wstring name = L"\\\\.\\pipe\\tidepool-" + std::to_wstring(GetCurrentProcessId()) + L'-' +
                            std::to_wstring(GetTickCount64()) + L'-' + std::to_wstring(++number);
  constexpr DWORD room = 64 * 1024;  // as on Linux
  const HANDLE reading = CreateNamedPipeW(
      name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
      PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, room, room, 0, nullptr);
  if (reading == INVALID_HANDLE_VALUE) {
    throw_last_error("CreateNamedPipe");
  }
  endpoint first(reading, endpoint_kind::pipe);
  const HANDLE writing =
      CreateFileW(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, nullptr);
  if (writing == INVALID_HANDLE_VALUE) {
    throw_last_error("CreateFile");
  }
  return {std::move(first), endpoint(writing, endpoint_kind::pipe)};
}

std::pair<endpoint, endpoint> endpoint::make_socket_pair() {
  const endpoint listener = listen(socket_address::loopback(), 1);
  const socket_address there = listener.local_address();
  while (true) {
    endpoint first = stream_socket(there);
    if (::connect(socket_of(first.handle_), native_of(there), native_size_of(there)) != 0) {
      system::throw_last_socket_error("connect");
    }
    const SOCKET accepted = ::accept(socket_of(listener.handle_), nullptr, nullptr);
    if (accepted == INVALID_SOCKET) {
      system::throw_last_socket_error("accept");
    }
    endpoint second(handle_of(accepted), endpoint_kind::socket);
    if (second.peer_address() == first.local_address()) {  // else somebody else on this machine was faster
      send_at_once(first);
      send_at_once(second);
      first.unconnected_ = false;
      return {std::move(first), std::move(second)};
    }
  }
}

endpoint endpoint::listen(const socket_address& on, int backlog) {
  endpoint made = make_socket(family_of(on), endpoint_kind::listener);
  const SOCKET socket = socket_of(made.handle_);
  const BOOL yes = TRUE;
  setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes), sizeof yes);
  if (::bind(socket, native_of(on), native_size_of(on)) != 0) {
    system::throw_last_socket_error("bind");
  }
  if (::listen(socket, backlog > 0 ? backlog : SOMAXCONN) != 0) {
    system::throw_last_socket_error("listen");
  }
  return made;
}

endpoint endpoint::stream_socket(const socket_address& of_this_family) {
  return make_socket(family_of(of_this_family), endpoint_kind::socket);
}

}  // namespace tidepool

#endif
