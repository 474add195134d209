// TidepoolAccept and TidepoolConnect, over TCP and over Unix domain sockets.
#include <arpa/inet.h>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <netinet/in.h>
#include <optional>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "contract/io_fixtures.hpp"
#include "tidepool/win32/tpextensions.h"

namespace {

using namespace contract;

constexpr outcome aborted{ERROR_OPERATION_ABORTED, 0};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{}));
}

struct address {
  sockaddr_storage value{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&value); }
};

class tcp {
 public:
  static constexpr int family = AF_INET;

  [[nodiscard]] static address to_bind() {
    address result;
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(&result.value, &local, sizeof local);
    result.length = sizeof local;
    return result;
  }
};

class unix_domain {
 public:
  static constexpr int family = AF_UNIX;

  [[nodiscard]] address to_bind() const {
    address result;
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    folder_.path("socket").copy(local.sun_path, sizeof local.sun_path - 1);
    std::memcpy(&result.value, &local, sizeof local);
    result.length = sizeof local;
    return result;
  }

 private:
  temporary_folder folder_;
};

int new_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0); }

template <class Domain>
class io_connection : public io_test {
 protected:
  io_connection() {
    const int made = new_socket(Domain::family);
    const address local = domain_.to_bind();
    EXPECT_EQ(bind(made, local.get(), local.length), 0);
    where_.length = sizeof where_.value;
    EXPECT_EQ(getsockname(made, where_.get(), &where_.length), 0);
    listener_.emplace(TidepoolOpenDescriptor(made));
  }

  void listen_for(int backlog = 16) { ASSERT_EQ(listen(TidepoolDescriptorOf(*listener_), backlog), 0); }

  [[nodiscard]] static handle unconnected() { return handle{TidepoolOpenDescriptor(new_socket(Domain::family))}; }

  static DWORD start_accept(io& with, HANDLE listener, request& its) {
    with.start();
    const DWORD issued = TidepoolAccept(listener, &its) ? NO_ERROR : GetLastError();
    if (!under_way(issued)) {
      with.take_back();
    }
    return issued;
  }

  static DWORD start_connect(io& with, HANDLE socket, const address& to, request& its) {
    with.start();
    const DWORD issued = TidepoolConnect(socket, to.get(), to.length, &its) ? NO_ERROR : GetLastError();
    if (!under_way(issued)) {
      with.take_back();
    }
    return issued;
  }

  outcome connect(recorded_io& with, HANDLE socket) {
    request its{std::size_t{0}};
    const DWORD issued = start_connect(with, socket, where_, its);
    return under_way(issued) ? with.of(its) : outcome{issued, 0};
  }

  /// Connects by the system's own means. Blocks until the listener has a place for it.
  [[nodiscard]] int visitor() {
    const int made = new_socket(Domain::family);
    EXPECT_EQ(::connect(made, where_.get(), where_.length), 0);
    return made;
  }

  Domain domain_;
  address where_;
  std::optional<handle> listener_;
};
using domains = testing::Types<tcp, unix_domain>;
TYPED_TEST_SUITE(io_connection, domains);

TYPED_TEST(io_connection, an_accept_that_waits_gives_the_descriptor_of_the_one_that_comes) {
  this->listen_for();
  recorded_io accepts{*this->listener_};
  request its{std::size_t{0}};
  ASSERT_EQ(this->start_accept(accepts, *this->listener_, its), ERROR_IO_PENDING);
  const handle client = this->unconnected();
  recorded_io connects{client};
  EXPECT_EQ(this->connect(connects, client), success(0));
  const outcome how = accepts.of(its);
  ASSERT_EQ(how.error, NO_ERROR);
  const int descriptor = static_cast<int>(how.bytes);
  EXPECT_NE(fcntl(descriptor, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  const handle server{TidepoolOpenDescriptor(descriptor)};
  write_unbound(server, "hello");
  request in{10};
  EXPECT_EQ(connects.read(client, in), success(5));
  EXPECT_EQ(in.text(5), "hello");
}

TYPED_TEST(io_connection, a_connection_that_waits_is_accepted) {
  this->listen_for();
  const int client = this->visitor();
  recorded_io accepts{*this->listener_};
  request its{std::size_t{0}};
  EXPECT_TRUE(under_way(this->start_accept(accepts, *this->listener_, its)));
  const outcome how = accepts.of(its);
  EXPECT_EQ(how.error, NO_ERROR);
  close(static_cast<int>(how.bytes));
  close(client);
}

TYPED_TEST(io_connection, several_accepts_get_a_connection_each) {
  constexpr int many = 8;
  this->listen_for();
  recorded_io accepts{*this->listener_};
  std::deque<request> requests;
  for (int i = 0; i != many; ++i) {
    ASSERT_EQ(this->start_accept(accepts, *this->listener_, requests.emplace_back(std::size_t{0})), ERROR_IO_PENDING);
  }
  std::vector<int> clients;
  for (int i = 0; i != many; ++i) {
    clients.push_back(this->visitor());
  }
  std::set<ULONG_PTR> accepted;
  for (const request& each : requests) {
    const outcome how = accepts.of(each);
    EXPECT_EQ(how.error, NO_ERROR);
    accepted.insert(how.bytes);
  }
  EXPECT_EQ(accepted.size(), std::size_t{many});
  for (const ULONG_PTR each : accepted) {
    close(static_cast<int>(each));
  }
  for (const int each : clients) {
    close(each);
  }
}

TYPED_TEST(io_connection, the_address_to_connect_to_is_copied) {
  this->listen_for();
  const handle client = this->unconnected();
  recorded_io connects{client};
  request its{std::size_t{0}};
  {
    address passing = this->where_;
    ASSERT_TRUE(under_way(this->start_connect(connects, client, passing, its)));
    std::memset(&passing.value, 0xFF, sizeof passing.value);
  }
  EXPECT_EQ(connects.of(its), success(0));
  address peer;
  peer.length = sizeof peer.value;
  EXPECT_EQ(getpeername(TidepoolDescriptorOf(client), peer.get(), &peer.length), 0);
  EXPECT_EQ(peer.length, this->where_.length);
  EXPECT_EQ(std::memcmp(&peer.value, &this->where_.value, peer.length), 0);
}

TYPED_TEST(io_connection, where_nobody_listens_it_is_refused) {
  const handle client = this->unconnected();
  recorded_io connects{client};
  EXPECT_EQ(this->connect(connects, client), (outcome{ERROR_CONNECTION_REFUSED, 0}));
}

TYPED_TEST(io_connection, what_is_no_address_is_an_invalid_parameter) {
  const handle client = this->unconnected();
  request its{std::size_t{0}};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, TidepoolConnect(client, nullptr, 16, &its));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, TidepoolConnect(client, this->where_.get(), 0, &its));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, TidepoolConnect(client, this->where_.get(), 4096, &its));
}

TYPED_TEST(io_connection, only_a_socket_that_listens_accepts) {
  const handle idle = this->unconnected();
  recorded_io accepts{idle};
  request its{std::size_t{0}};
  EXPECT_FALSE(under_way(this->start_accept(accepts, idle, its)));
  const io_pipe pipe;
  request of_pipe{std::size_t{0}};
  EXPECT_FALSE(TidepoolAccept(pipe.reader(), &of_pipe));
  EXPECT_NE(GetLastError(), ERROR_IO_PENDING);
  const io_file file;
  EXPECT_FALSE(TidepoolAccept(file.reader(), &of_pipe));
  EXPECT_NE(GetLastError(), ERROR_IO_PENDING);
}

TYPED_TEST(io_connection, a_cancelled_accept_takes_no_connection) {
  this->listen_for();
  recorded_io accepts{*this->listener_};
  request stopped{std::size_t{0}};
  ASSERT_EQ(this->start_accept(accepts, *this->listener_, stopped), ERROR_IO_PENDING);
  EXPECT_TRUE(CancelIoEx(*this->listener_, &stopped));
  EXPECT_EQ(accepts.of(stopped), aborted);
  const int client = this->visitor();
  request next{std::size_t{0}};
  EXPECT_TRUE(under_way(this->start_accept(accepts, *this->listener_, next)));
  const outcome how = accepts.of(next);
  EXPECT_EQ(how.error, NO_ERROR);
  close(static_cast<int>(how.bytes));
  close(client);
}

TYPED_TEST(io_connection, a_cancellation_that_meets_a_connection_neither_loses_nor_leaks_it) {
  this->listen_for();
  recorded_io accepts{*this->listener_};
  const std::size_t before = open_descriptors();
  for (int round = 0; round != 100; ++round) {
    request its{std::size_t{0}};
    ASSERT_EQ(this->start_accept(accepts, *this->listener_, its), ERROR_IO_PENDING);
    int client = -1;
    together(2, [&](unsigned i) {
      if (i == 0) {
        client = this->visitor();
      } else {
        CancelIoEx(*this->listener_, &its);
      }
    });
    outcome how = accepts.of(its);
    if (how == aborted) {
      request next{std::size_t{0}};
      ASSERT_TRUE(under_way(this->start_accept(accepts, *this->listener_, next)));
      how = accepts.of(next);
    }
    ASSERT_EQ(how.error, NO_ERROR);
    close(static_cast<int>(how.bytes));
    close(client);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TYPED_TEST(io_connection, what_a_dropped_accept_takes_later_is_closed) {
  this->listen_for();
  recorded_io accepts{*this->listener_};
  request dropped{std::size_t{0}};
  ASSERT_EQ(this->start_accept(accepts, *this->listener_, dropped), ERROR_IO_PENDING);
  accepts.cancel();
  const std::size_t before = open_descriptors();
  const int client = this->visitor();
  char byte = 0;
  EXPECT_LE(recv(client, &byte, 1, 0), 0) << "it is closed, so that the client learns of it";
  close(client);
  EXPECT_TRUE(eventually([&] { return open_descriptors() == before; }));
  EXPECT_EQ(accepts.count(), 0u);
}

TYPED_TEST(io_connection, what_an_accept_has_taken_is_closed_when_its_callback_is_dropped) {
  this->listen_for();
  const pool one{1};
  environment where{one};
  recorded_io accepts{*this->listener_, where};
  const std::size_t before = open_descriptors();
  for (int round = 0; round != 20; ++round) {
    occupier busy{where, 1};
    ASSERT_TRUE(busy.held());
    const int client = this->visitor();
    request dropped{std::size_t{0}};
    ASSERT_TRUE(under_way(this->start_accept(accepts, *this->listener_, dropped)));
    ASSERT_TRUE(eventually([&] { return is_complete(dropped); }));
    accepts.cancel();
    busy.release();
    drain_pool_of_one(where);
    close(client);
  }
  EXPECT_TRUE(eventually([&] { return open_descriptors() == before; })) << open_descriptors() << " of " << before;
  EXPECT_EQ(accepts.count(), 0u);
}

TYPED_TEST(io_connection, closing_the_listener_ends_its_accepts) {
  this->listen_for();
  recorded_io accepts{*this->listener_};
  std::array<request, 2> some{request{std::size_t{0}}, request{std::size_t{0}}};
  for (request& each : some) {
    ASSERT_EQ(this->start_accept(accepts, *this->listener_, each), ERROR_IO_PENDING);
  }
  this->listener_->close();
  for (const request& each : some) {
    EXPECT_EQ(accepts.of(each), aborted);
  }
}

TYPED_TEST(io_connection, an_accept_without_an_object_leaves_its_descriptor_to_whoever_asks_for_the_result) {
  this->listen_for();
  const handle complete = manual_event();
  request its{std::size_t{0}};
  its.hEvent = complete;
  ASSERT_FALSE(TidepoolAccept(*this->listener_, &its));
  ASSERT_EQ(GetLastError(), ERROR_IO_PENDING);
  const int client = this->visitor();
  const outcome how = result_of(*this->listener_, its, TRUE);
  EXPECT_EQ(how.error, NO_ERROR);
  EXPECT_EQ(fcntl(static_cast<int>(how.bytes), F_GETFD), FD_CLOEXEC);
  close(static_cast<int>(how.bytes));
  close(client);
}

class io_connection_of_unix : public io_connection<unix_domain> {};

TEST_F(io_connection_of_unix, to_a_path_that_is_not_there_is_not_found) {
  const temporary_folder empty;
  sockaddr_un nowhere{};
  nowhere.sun_family = AF_UNIX;
  empty.path("none").copy(nowhere.sun_path, sizeof nowhere.sun_path - 1);
  const handle client = unconnected();
  request its{std::size_t{0}};
  EXPECT_FAILS_WITH(ERROR_FILE_NOT_FOUND, TidepoolConnect(client, &nowhere, sizeof nowhere, &its));
}

/// A Unix domain socket does not become writable when there is room among those that wait to be accepted.
TEST_F(io_connection_of_unix, waits_until_a_full_listener_has_a_place_again) {
  listen_for(0);
  const int first = visitor();
  const handle client = unconnected();
  recorded_io connects{client};
  request its{std::size_t{0}};
  ASSERT_EQ(start_connect(connects, client, where_, its), ERROR_IO_PENDING);
  const int accepted = accept4(TidepoolDescriptorOf(*listener_), nullptr, nullptr, SOCK_CLOEXEC);
  EXPECT_GE(accepted, 0);
  EXPECT_EQ(connects.of(its), success(0));
  close(accepted);
  close(first);
}

TEST_F(io_connection_of_unix, to_a_full_listener_can_be_cancelled) {
  listen_for(0);
  const int first = visitor();
  const handle client = unconnected();
  recorded_io connects{client};
  request its{std::size_t{0}};
  ASSERT_EQ(start_connect(connects, client, where_, its), ERROR_IO_PENDING);
  EXPECT_TRUE(CancelIoEx(client, &its));
  EXPECT_EQ(connects.of(its), aborted);
  close(first);
}

}  // namespace
