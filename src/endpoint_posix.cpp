// Endpoints on Linux: descriptors, which the engine makes handles of.
#ifndef _WIN32

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "endpoint_system.hpp"
#include "last_error.hpp"
#include "sockets.hpp"
#include "tidepool/detail/access.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool {

namespace {

using detail::access;

/// A descriptor that is closed unless somebody takes it.
class owned_descriptor {
 public:
  explicit owned_descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  ~owned_descriptor() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  [[nodiscard]] int get() const noexcept { return descriptor_; }

  /// Makes an endpoint of it.
  endpoint open(endpoint_kind kind, bool unconnected = false) {
    const HANDLE opened = TidepoolOpenDescriptor(descriptor_);
    if (opened == nullptr) {
      throw_last_error("TidepoolOpenDescriptor");
    }
    descriptor_ = -1;
    return access::make_endpoint(opened, kind, unconnected);
  }

 private:
  int descriptor_;
};

const sockaddr* native_of(const socket_address& of) noexcept {
  return reinterpret_cast<const sockaddr*>(access::storage_of(of));
}

socklen_t native_size_of(const socket_address& of) noexcept { return static_cast<socklen_t>(access::size_of(of)); }

int family_of(const socket_address& of) noexcept {
  return access::size_of(of) == 0 ? AF_UNSPEC : native_of(of)->sa_family;
}

int make_socket(int family) {
  const int made = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) {
    system::throw_last_socket_error("socket");
  }
  return made;
}

socket_address address_by(int (*function)(int, sockaddr*, socklen_t*) noexcept, HANDLE socket, const char* name) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (function(TidepoolDescriptorOf(socket), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    system::throw_last_socket_error(name);
  }
  return access::make_address(&address, size);
}

void set(int socket, int level, int option) noexcept {
  const int yes = 1;
  ::setsockopt(socket, level, option, &yes, sizeof yes);
}

endpoint_kind kind_of_socket(int descriptor) noexcept {
  int listens = 0;
  socklen_t size = sizeof listens;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
  return listens != 0 ? endpoint_kind::listener : endpoint_kind::socket;
}

endpoint_kind kind_of_descriptor(int descriptor) noexcept {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    return endpoint_kind::file;
  }
  if (S_ISSOCK(status.st_mode)) {
    return kind_of_socket(descriptor);
  }
  return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ? endpoint_kind::file : endpoint_kind::pipe;
}

/// The codes that the engine gives to the errors of requests, for those of the calls that are made here.
std::uint32_t win32_error_of(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM: return ERROR_ACCESS_DENIED;
    case EBADF:
    case ENOTSOCK: return ERROR_INVALID_HANDLE;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
    case ENOBUFS: return ERROR_NO_SYSTEM_RESOURCES;
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case EOPNOTSUPP: return ERROR_NOT_SUPPORTED;
    case EINVAL: return ERROR_INVALID_PARAMETER;
    case ENOENT: return ERROR_FILE_NOT_FOUND;
    case ENOTDIR: return ERROR_PATH_NOT_FOUND;
    case EROFS: return ERROR_WRITE_PROTECT;
    case EADDRINUSE: return WSAEADDRINUSE;
    case EADDRNOTAVAIL: return WSAEADDRNOTAVAIL;
    case ENOTCONN: return WSAENOTCONN;
    default: return ERROR_IO_DEVICE;
  }
}

}  // namespace

namespace system {

HANDLE open_file(const std::filesystem::path& path, DWORD access, DWORD disposition) noexcept {
  if (path.native().find('\0') != std::string::npos) {
    SetLastError(ERROR_INVALID_NAME);
    return INVALID_HANDLE_VALUE;
  }
  return CreateFileA(path.c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, disposition,
                     FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OVERLAPPED, nullptr);
}

endpoint_kind kind_of_file(HANDLE file) noexcept { return kind_of_descriptor(TidepoolDescriptorOf(file)); }

void close(HANDLE handle, endpoint_kind) noexcept { CloseHandle(handle); }

bool is_unconnected(HANDLE socket) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getpeername(TidepoolDescriptorOf(socket), reinterpret_cast<sockaddr*>(&address), &size) != 0 &&
         errno == ENOTCONN;
}

socket_address local_address(HANDLE socket) { return address_by(&::getsockname, socket, "getsockname"); }

socket_address peer_address(HANDLE socket) { return address_by(&::getpeername, socket, "getpeername"); }

std::uint32_t last_socket_error() noexcept { return win32_error_of(errno); }

void throw_last_socket_error(const char* what) { throw std::system_error(win32_error(last_socket_error()), what); }

}  // namespace system

std::pair<endpoint, endpoint> endpoint::make_pipe() {
  int made[2];
  if (::pipe2(made, O_CLOEXEC) != 0) {
    system::throw_last_socket_error("pipe2");
  }
  owned_descriptor first(made[0]);
  owned_descriptor second(made[1]);
  endpoint reading = first.open(endpoint_kind::pipe);
  return {std::move(reading), second.open(endpoint_kind::pipe)};
}

std::pair<endpoint, endpoint> endpoint::make_socket_pair() {
  int made[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, made) != 0) {
    system::throw_last_socket_error("socketpair");
  }
  owned_descriptor first(made[0]);
  owned_descriptor second(made[1]);
  endpoint one = first.open(endpoint_kind::socket);
  return {std::move(one), second.open(endpoint_kind::socket)};
}

endpoint endpoint::listen(const socket_address& on, int backlog) {
  owned_descriptor made(make_socket(family_of(on)));
  if (family_of(on) != AF_UNIX) {
    set(made.get(), SOL_SOCKET, SO_REUSEADDR);
  }
  if (family_of(on) == AF_INET6) {
    set(made.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  }
  if (::bind(made.get(), native_of(on), native_size_of(on)) != 0) {
    system::throw_last_socket_error("bind");
  }
  if (::listen(made.get(), backlog > 0 ? backlog : SOMAXCONN) != 0) {
    system::throw_last_socket_error("listen");
  }
  return made.open(endpoint_kind::listener);
}

endpoint endpoint::stream_socket(const socket_address& of_this_family) {
  owned_descriptor made(make_socket(family_of(of_this_family)));
  return made.open(endpoint_kind::socket, true);
}

endpoint endpoint::adopt_descriptor(int descriptor) {
  const HANDLE opened = TidepoolOpenDescriptor(descriptor);
  if (opened == nullptr) {
    throw_last_error("TidepoolOpenDescriptor");
  }
  const endpoint_kind kind = kind_of_descriptor(descriptor);
  return {opened, kind, kind == endpoint_kind::socket && system::is_unconnected(opened)};
}

}  // namespace tidepool

#endif
