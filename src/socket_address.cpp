#include "tidepool/socket_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "sockets.hpp"
#include "tidepool/detail/access.hpp"

namespace tidepool {

namespace {

using detail::access;

static_assert(sizeof(sockaddr_storage) <= 128);

[[noreturn]] void throw_no_address(std::string_view text) {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                          "socket_address::parse: '" + std::string(text) + "' is not of the form 127.0.0.1:80" +
#ifdef _WIN32
                              " or [::1]:80"
#else
                              ", [::1]:80 or unix:/path"
#endif
  );
}

template <class Native>
Native native_as(const socket_address& of) noexcept {
  Native native;
  std::memcpy(&native, access::storage_of(of), sizeof native);
  return native;
}

int family_of(const socket_address& of) noexcept {
  return access::size_of(of) == 0 ? AF_UNSPEC : native_as<sockaddr>(of).sa_family;
}

bool parse_port(std::string_view text, std::uint16_t& port) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

#ifndef _WIN32
socket_address unix_address(std::string_view path, std::string_view text) {
  sockaddr_un native{};
  native.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof native.sun_path || path.find('\0') != std::string_view::npos) {
    throw_no_address(text);
  }
  std::memcpy(native.sun_path, path.data(), path.size());
  return access::make_address(&native, offsetof(sockaddr_un, sun_path) + path.size() + 1);
}
#endif

}  // namespace

socket_address socket_address::parse(std::string_view text) {
#ifndef _WIN32
  if (constexpr std::string_view prefix = "unix:"; text.starts_with(prefix)) {
    return unix_address(text.substr(prefix.size()), text);
  }
#endif
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos || !parse_port(text.substr(colon + 1), port)) {
    throw_no_address(text);
  }
  std::string host(text.substr(0, colon));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    sockaddr_in6 native{};
    native.sin6_family = AF_INET6;
    native.sin6_port = htons(port);
    if (inet_pton(AF_INET6, host.c_str(), &native.sin6_addr) != 1 || host.find('\0') != std::string::npos) {
      throw_no_address(text);
    }
    return access::make_address(&native, sizeof native);
  }
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &native.sin_addr) != 1 || host.find('\0') != std::string::npos) {
    throw_no_address(text);
  }
  return access::make_address(&native, sizeof native);
}

socket_address socket_address::loopback(std::uint16_t port) noexcept {
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(port);
  native.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return access::make_address(&native, sizeof native);
}

std::uint16_t socket_address::port() const noexcept {
  switch (family_of(*this)) {
    case AF_INET: return ntohs(native_as<sockaddr_in>(*this).sin_port);
    case AF_INET6: return ntohs(native_as<sockaddr_in6>(*this).sin6_port);
    default: return 0;
  }
}

std::string socket_address::to_string() const {
  char text[INET6_ADDRSTRLEN]{};
  switch (family_of(*this)) {
    case AF_INET: {
      const auto native = native_as<sockaddr_in>(*this);
      inet_ntop(AF_INET, &native.sin_addr, text, sizeof text);
      return std::string(text) + ':' + std::to_string(port());
    }
    case AF_INET6: {
      const auto native = native_as<sockaddr_in6>(*this);
      inet_ntop(AF_INET6, &native.sin6_addr, text, sizeof text);
      return '[' + std::string(text) + "]:" + std::to_string(port());
    }
#ifndef _WIN32
    case AF_UNIX: {
      const auto native = native_as<sockaddr_un>(*this);
      const std::size_t begin = offsetof(sockaddr_un, sun_path);
      const std::string_view path(native.sun_path, size_ > begin ? size_ - begin : 0);
      return "unix:" + std::string(path.substr(0, path.find('\0')));
    }
#endif
    default: return {};
  }
}

socket_address detail::access::make_address(const void* native, std::size_t size) noexcept {
  socket_address made;
  made.size_ = std::min(size, made.storage_.size());
  std::memcpy(made.storage_.data(), native, made.size_);
  if (family_of(made) == AF_INET) {  // what follows the address itself may be anything
    auto plain = native_as<sockaddr_in>(made);
    std::memset(plain.sin_zero, 0, sizeof plain.sin_zero);
    std::memcpy(made.storage_.data(), &plain, sizeof plain);
  }
  return made;
}

const std::byte* detail::access::storage_of(const socket_address& of) noexcept { return of.storage_.data(); }

std::size_t detail::access::size_of(const socket_address& of) noexcept { return of.size_; }

}  // namespace tidepool
