// Where a socket is, or is to be.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tidepool/native.hpp"

namespace tidepool {

/// An IPv4 or IPv6 address with its port, or (Linux) the path of a Unix domain socket. Default-constructed it is no
/// address; whatever is asked to use that is refused.
///
/// Thread safety: as for int.
///
/// Win32: SOCKADDR_STORAGE.
class socket_address {
 public:
  socket_address() noexcept = default;

  /// "127.0.0.1:80", "[::1]:80" or "unix:/path". Numbers only: names are not looked up, and the port has to be there.
  /// Throws std::system_error (std::errc::invalid_argument) for anything else, a path that is empty or too long, and on
  /// Windows for any path.
  [[nodiscard]] static socket_address parse(std::string_view text);

  /// 127.0.0.1. Port 0, where something is made to listen, is one that the system chooses.
  [[nodiscard]] static socket_address loopback(std::uint16_t port = 0) noexcept;

  /// Zero for a Unix domain address.
  [[nodiscard]] std::uint16_t port() const noexcept;

  /// As parse() reads it. A Unix domain socket without a name is "unix:", no address at all is "".
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const socket_address&, const socket_address&) noexcept = default;
  /// An order to keep them in, which means nothing else.
  friend std::strong_ordering operator<=>(const socket_address&, const socket_address&) noexcept = default;

 private:
  friend struct detail::access;

  alignas(8) std::array<std::byte, 128> storage_{};  // a struct sockaddr_storage, zero after the address
  std::size_t size_ = 0;
};

}  // namespace tidepool
