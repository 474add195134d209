// Files, pipes and sockets, before they are put to use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "tidepool/native.hpp"
#include "tidepool/socket_address.hpp"

namespace tidepool {

enum class access { read, write, read_write };

enum class creation {
  open_existing,      ///< Fails when there is none.
  create_new,         ///< Fails when there is one.
  open_or_create,     ///< Leaves an existing one as it is.
  create_or_truncate  ///< Empties an existing one.
};

/// What can be asked of an endpoint: `file` is read and written at an offset; `pipe` is read and written in its order,
/// and stands for terminals and other such devices too; `socket` is a stream socket, which connects, sends and
/// receives; `listener` is one that accepts.
enum class endpoint_kind { file, pipe, socket, listener };

/// An open file, pipe or socket that somebody owns, opened for overlapped use and not bound to anything yet. Making an
/// `io` of it consumes it.
///
/// None of them is inherited by child processes. The functions that make one throw std::system_error, with a code that
/// compares equal to what std::errc has for it, when the system refuses. A moved-from or default-constructed endpoint
/// holds nothing: it can be destroyed and assigned to, any other use of it ends the process with a message.
///
/// Thread safety: as for int.
///
/// Win32: a HANDLE made with FILE_FLAG_OVERLAPPED, or a SOCKET made with WSA_FLAG_OVERLAPPED.
class endpoint {
 public:
  endpoint() noexcept = default;

  /// A regular file, or a device or named pipe of the file system; not a directory (std::errc::permission_denied).
  /// Others may open, rename and remove it meanwhile. Win32: CreateFile.
  [[nodiscard]] static endpoint open_file(const std::filesystem::path& path, access how,
                                          creation disposition = creation::open_existing);

  /// What is written to `second` is read from `first`. Win32: CreateNamedPipe and CreateFile.
  [[nodiscard]] static std::pair<endpoint, endpoint> make_pipe();

  /// Two stream sockets that are connected to each other: of the Unix domain on Linux, TCP on the loopback interface on
  /// Windows.
  [[nodiscard]] static std::pair<endpoint, endpoint> make_socket_pair();

  /// A socket that listens, for io::accept(). `backlog` is how many connections may wait to be accepted; zero is the
  /// most that the system allows. On an IPv6 address it accepts IPv6 connections only. On Linux the address may be one
  /// that connections of an earlier listener still linger on; on Windows nobody else can take it meanwhile. Win32:
  /// bind, listen.
  [[nodiscard]] static endpoint listen(const socket_address& on, int backlog = 0);

  /// A socket to connect to addresses of the same family as that one, with io::connect(). Win32: WSASocket.
  [[nodiscard]] static endpoint stream_socket(const socket_address& of_this_family);

#ifndef _WIN32
  /// Takes over the descriptor of a regular file, a pipe, a stream socket or a terminal. It is made non-blocking,
  /// unless it is a file. Throws, and leaves the descriptor to the caller, when it is something else.
  [[nodiscard]] static endpoint adopt_descriptor(int descriptor);
#endif

  endpoint(endpoint&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        kind_(std::exchange(other.kind_, endpoint_kind::file)),
        unconnected_(std::exchange(other.unconnected_, false)) {}
  endpoint& operator=(endpoint&& other) noexcept;

  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// Closes it.
  ~endpoint() { close(); }

  /// Whether it holds something.
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

  [[nodiscard]] endpoint_kind kind() const noexcept { return kind_; }

  /// In bytes. Throws std::system_error for what has no size. Win32: GetFileSizeEx.
  [[nodiscard]] std::uint64_t file_size() const;

  /// A socket's own address: that of a listener on port 0 has the port which the system chose. Throws std::system_error
  /// for what is no socket. Win32: getsockname.
  [[nodiscard]] socket_address local_address() const;

  /// The address at the other end. Throws std::system_error when there is none (std::errc::not_connected). Win32:
  /// getpeername.
  [[nodiscard]] socket_address peer_address() const;

 private:
  friend struct detail::access;

  endpoint(native::handle owned, endpoint_kind kind, bool unconnected = false) noexcept
      : handle_(owned), kind_(kind), unconnected_(unconnected) {}

  void close() noexcept;

  native::handle handle_ = nullptr;
  endpoint_kind kind_ = endpoint_kind::file;
  bool unconnected_ = false;  // a socket that is to be connected
};

}  // namespace tidepool
