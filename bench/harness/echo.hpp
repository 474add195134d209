// ECHO: requests over loopback TCP that are sent back as they came.
//
//   class some_server {
//    public:
//     static constexpr const char* name = "some_library";
//     explicit some_server(const plan&);                   // listens, accepts and echoes, with threads placed by the plan
//     std::uint16_t port() const;                          // on loopback
//     ~some_server();                                      // when nobody is connected any more
//   };
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "figures.hpp"
#include "placement.hpp"
#include "tally.hpp"

namespace bench {

constexpr std::size_t request_size = 64;
constexpr std::size_t echo_connections = 64;

// What a server has for each connection: room for a request, and the count of those that it has answered.
class echo_connection {
 public:
  std::array<std::byte, 2 * request_size> buffer;

  // `size` bytes have been sent back. A request that came in parts counts once. To be called before the connection is
  // handed on, as another thread may have it then.
  void echoed(std::size_t size) noexcept {
    bytes_ += size;
    for (; bytes_ >= request_size; bytes_ -= request_size) {
      callbacks.hit();
    }
  }

 private:
  std::size_t bytes_ = 0;
};

// For servers that make their sockets themselves.
inline int listen_on_loopback() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    throw std::system_error(errno, std::generic_category(), "no socket that listens");
  }
  return listener;
}

inline std::uint16_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// Without it, an answer may wait for the acknowledgement of the one before.
inline void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// The time of all requests together, and percentiles of the time of each.
struct echo_times {
  double total = 0, p50 = 0, p99 = 0;  // ns
};

// Runs the program beside this one that makes the load, with `times` requests on each connection.
inline echo_times load(std::uint16_t port, const plan& how, std::uint64_t times) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "echo_load";
  const std::string command = "exec '" + program.string() + "' " + std::to_string(port) + " " + std::to_string(times) +
                              (how.where == placement::spread ? " spread" : " free");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(command.c_str(), "re"), &pclose);
  echo_times seen;
  if (!output || std::fscanf(output.get(), "%lf %lf %lf", &seen.total, &seen.p50, &seen.p99) != 3) {
    throw std::runtime_error("echo_load failed");
  }
  return seen;
}

// `times` requests on each connection.
template <class Server>
echo_times answer(Server& server, const plan& how, std::uint64_t times) {
  callbacks.expect(echo_connections * times);
  const echo_times seen = load(server.port(), how, times);
  callbacks.wait();  // what has been answered may not have been counted yet
  return seen;
}

}  // namespace bench
