// How endpoints are opened and closed, as far as it differs between platforms. What is missing here (making pipes,
// socket pairs, listeners) are members of endpoint, in endpoint_posix.cpp and endpoint_windows.cpp.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tidepool/endpoint.hpp"
#include "win32.hpp"

namespace tidepool::system {

/// CreateFile. INVALID_HANDLE_VALUE, with the last error set, when it fails.
[[nodiscard]] HANDLE open_file(const std::filesystem::path& path, DWORD access, DWORD disposition) noexcept;
[[nodiscard]] endpoint_kind kind_of_file(HANDLE file) noexcept;
void close(HANDLE handle, endpoint_kind kind) noexcept;
/// Of a socket that somebody else has made.
[[nodiscard]] bool is_unconnected(HANDLE socket) noexcept;

[[nodiscard]] socket_address local_address(HANDLE socket);
[[nodiscard]] socket_address peer_address(HANDLE socket);

}  // namespace tidepool::system
