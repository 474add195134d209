// Endpoints before they are bound, addresses, buffers.
#include <cstring>
#include <set>

#include "io.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

namespace safe {
namespace {

// ---- buffers -------------------------------------------------------------------------------------------

TEST(buffers, have_the_size_they_are_told_and_keep_their_place_when_moved) {
  buffer first(10);
  EXPECT_EQ(first.size(), 10u);
  EXPECT_EQ(first.bytes().size(), 10u);
  EXPECT_EQ(first.end() - first.begin(), 10);
  std::byte* const where = first.data();
  std::fill(first.begin(), first.end(), std::byte{7});
  buffer second(std::move(first));
  EXPECT_EQ(second.data(), where);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(first.data(), nullptr);
  buffer third;
  EXPECT_TRUE(third.empty());
  third = std::move(second);
  EXPECT_EQ(third.data(), where);
  EXPECT_EQ(third.size(), 10u);
  EXPECT_EQ(third.bytes()[9], std::byte{7});
}

TEST(buffers, can_be_empty) {
  const buffer none(0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.begin(), none.end());
}

// ---- addresses -----------------------------------------------------------------------------------------

TEST(socket_addresses, are_read_and_written_the_same_way) {
  for (const char* text :
       {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:0", "[2001:db8::1]:443"}) {
    const socket_address address = socket_address::parse(text);
    EXPECT_EQ(address.to_string(), text);
    EXPECT_EQ(std::to_string(address.port()), std::strrchr(text, ':') + 1);
  }
}

TEST(socket_addresses, are_refused_when_they_are_none) {
  using namespace std::string_literals;
  const std::string texts[] = {"",
                               ":",
                               "127.0.0.1",
                               "127.0.0.1:",
                               ":80",
                               "127.0.0.1:65536",
                               "127.0.0.1:-1",
                               "127.0.0.1:8o",
                               "127.0.0.1: 80",
                               "127.0.0.1:80 ",
                               "localhost:80",
                               "256.0.0.1:80",
                               "::1:80",
                               "[::1]",
                               "[::1]80",
                               "[]:80",
                               "[::1:80",
                               "[127.0.0.1]:80",
                               "1.2.3:80",
                               "127.0.0.1\0:80"s,
                               "[::1\0]:80"s,
                               "unix:",
                               "unix:"s + std::string(200, 'x'),
                               "unix:a\0b"s};
  for (const std::string& text : texts) {
    EXPECT_SYSTEM_ERROR(static_cast<void>(socket_address::parse(text)), std::errc::invalid_argument);
  }
}

TEST(socket_addresses, compare) {
  EXPECT_EQ(socket_address::parse("127.0.0.1:80"), socket_address::loopback(80));
  EXPECT_NE(socket_address::parse("127.0.0.1:80"), socket_address::loopback(81));
  EXPECT_NE(socket_address::parse("127.0.0.2:80"), socket_address::loopback(80));
  EXPECT_NE(socket_address(), socket_address::loopback());
  EXPECT_EQ(socket_address().to_string(), "");
  EXPECT_EQ(socket_address().port(), 0);
  const auto first = socket_address::loopback(1);
  const auto second = socket_address::loopback(2);
  EXPECT_TRUE((first < second) != (second < first));
}

#ifndef _WIN32
TEST(socket_addresses, can_be_paths) {
  const socket_address address = socket_address::parse("unix:/tmp/a socket:80");
  EXPECT_EQ(address.to_string(), "unix:/tmp/a socket:80");
  EXPECT_EQ(address.port(), 0);
}
#endif

// ---- endpoints -----------------------------------------------------------------------------------------

class endpoints : public safe_test {};

TEST_F(endpoints, hold_nothing_until_they_are_given_something_or_when_it_is_taken) {
  endpoint none;
  EXPECT_FALSE(none);
  auto [first, second] = endpoint::make_pipe();
  EXPECT_TRUE(first);
  none = std::move(first);
  EXPECT_TRUE(none);
  EXPECT_FALSE(first);
  const endpoint other(std::move(none));
  EXPECT_TRUE(other);
  EXPECT_FALSE(none);
}

TEST_F(endpoints, know_what_they_are) {
  const scratch_file file("x");
  EXPECT_EQ(endpoint::open_file(file.path(), access::read).kind(), endpoint_kind::file);
  EXPECT_EQ(endpoint::make_pipe().first.kind(), endpoint_kind::pipe);
  EXPECT_EQ(endpoint::make_socket_pair().second.kind(), endpoint_kind::socket);
  EXPECT_EQ(endpoint::stream_socket(socket_address::loopback()).kind(), endpoint_kind::socket);
  EXPECT_EQ(endpoint::listen(socket_address::loopback()).kind(), endpoint_kind::listener);
}

TEST_F(endpoints, are_opened_as_they_are_told) {
  const scratch_file file("content");
  const scratch_file missing;
  EXPECT_EQ(endpoint::open_file(file.path(), access::read).file_size(), 7u);
  EXPECT_SYSTEM_ERROR(static_cast<void>(endpoint::open_file(missing.path(), access::read)),
                      std::errc::no_such_file_or_directory);
  EXPECT_SYSTEM_ERROR(static_cast<void>(endpoint::open_file(file.path(), access::write, creation::create_new)),
                      std::errc::file_exists);
  EXPECT_EQ(endpoint::open_file(file.path(), access::write, creation::open_or_create).file_size(), 7u);
  EXPECT_EQ(endpoint::open_file(file.path(), access::read_write, creation::create_or_truncate).file_size(), 0u);
  EXPECT_FALSE(std::filesystem::exists(missing.path()));
  EXPECT_EQ(endpoint::open_file(missing.path(), access::write, creation::open_or_create).file_size(), 0u);
  EXPECT_TRUE(std::filesystem::exists(missing.path()));
}

TEST_F(endpoints, are_not_made_of_folders_or_names_with_a_null_in_them) {
  EXPECT_SYSTEM_ERROR(static_cast<void>(endpoint::open_file(std::filesystem::temp_directory_path(), access::read)),
                      std::errc::permission_denied);
  const scratch_file file("x");
  EXPECT_SYSTEM_ERROR(
      static_cast<void>(endpoint::open_file(file.path().string() + std::string("\0y", 2), access::read)),
      std::errc::invalid_argument);
}

TEST_F(endpoints, let_others_use_and_remove_the_file) {
  const scratch_file file("content");
  const endpoint first = endpoint::open_file(file.path(), access::read_write);
  const endpoint second = endpoint::open_file(file.path(), access::read_write);
  EXPECT_EQ(second.file_size(), 7u);
  EXPECT_TRUE(std::filesystem::remove(file.path()));
}

TEST_F(endpoints, have_an_address_or_a_size_or_neither) {
  const scratch_file file("x");
  const endpoint opened = endpoint::open_file(file.path(), access::read);
  EXPECT_SYSTEM_ERROR(static_cast<void>(opened.local_address()), std::errc::not_supported);
  EXPECT_SYSTEM_ERROR(static_cast<void>(opened.peer_address()), std::errc::not_supported);
  const endpoint listening = endpoint::listen(socket_address::loopback());
  EXPECT_NE(listening.local_address().port(), 0);
  EXPECT_SYSTEM_ERROR(static_cast<void>(listening.file_size()), std::errc::not_supported);
}

TEST_F(endpoints, are_closed_when_others_are_assigned_or_an_io_can_not_be_made) {
  auto [first, second] = endpoint::make_pipe();
  io reader(std::move(first));
  text_answer read;
  reader.read(std::string(1, ' '), read.handler());
  second = endpoint();
  EXPECT_EQ(read.get().error, std::errc::broken_pipe);
}

TEST_F(endpoints, can_not_listen_where_somebody_else_does) {
  const endpoint listening = endpoint::listen(socket_address::loopback());
  EXPECT_SYSTEM_ERROR(static_cast<void>(endpoint::listen(listening.local_address())), std::errc::address_in_use);
  EXPECT_THROW(static_cast<void>(endpoint::listen(socket_address::parse("192.0.2.1:0"))), std::system_error);
  EXPECT_THROW(static_cast<void>(endpoint::listen(socket_address())), std::system_error);
}

TEST_F(endpoints, are_consumed_by_an_io_that_the_system_refuses) {
  SKIP_UNDER_WINE("accepts environments of any version");
  auto [first, second] = endpoint::make_pipe();
  tidepool::callback_environment environment;
  tidepool::unsafe::native_environment(environment)->Version = 99;
  EXPECT_SYSTEM_ERROR(io(std::move(second), environment), std::errc::invalid_argument);
  io reader(std::move(first));
  text_answer read;
  reader.read(std::string(1, ' '), read.handler());
  EXPECT_EQ(read.get().error, std::errc::broken_pipe);
}

TEST_F(endpoints, can_be_adopted_as_native_handles) {
  const scratch_file file("content");
  endpoint opened = endpoint::open_file(file.path(), access::read);
  EXPECT_NE(tidepool::unsafe::native_handle(opened), nullptr);
  EXPECT_SYSTEM_ERROR(static_cast<void>(tidepool::unsafe::adopt_handle(nullptr, endpoint_kind::file)),
                      std::error_code(6, tidepool::win32_category()));
}

#ifndef _WIN32

std::set<int> inherited_descriptors() {
  std::set<int> found;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(each.path().filename().string());
    const int flags = fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) {
      found.insert(descriptor);
    }
  }
  return found;
}

TEST_F(endpoints, can_be_made_of_descriptors) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  io reader(endpoint::adopt_descriptor(ends[0]));
  endpoint writing = endpoint::adopt_descriptor(ends[1]);
  EXPECT_EQ(writing.kind(), endpoint_kind::pipe);
  io writer(std::move(writing));
  write_and_wait<pipe_kind>(writer, "x");
  text_answer read;
  reader.read(std::string(1, ' '), read.handler());
  expect_read(read.get(), "x");
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(endpoint::adopt_descriptor(listening).kind(), endpoint_kind::socket);
}

TEST_F(endpoints, made_of_the_descriptors_of_sockets_can_be_connected_or_are) {
  endpoint listening = endpoint::listen(socket_address::loopback());
  const socket_address there = listening.local_address();
  io listener(std::move(listening));
  io client(endpoint::adopt_descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  answer<connection_result> connected;
  client.connect(there, connected.handler());
  EXPECT_FALSE(connected.get().error) << connected.get().error.message();
  write_and_wait<socket_kind>(client, "text");
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  io first(endpoint::adopt_descriptor(pair[0]));
  io second(endpoint::adopt_descriptor(pair[1]));
  write_and_wait<socket_kind>(first, "text");
  text_answer received;
  second.receive(std::string(4, ' '), received.handler());
  expect_read(received.get(), "text");
}

TEST_F(endpoints, are_not_made_of_other_descriptors_which_stay_with_the_caller) {
  const int event = eventfd(0, EFD_CLOEXEC);
  const int datagrams = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (const int each : {event, datagrams}) {
    EXPECT_THROW(static_cast<void>(endpoint::adopt_descriptor(each)), std::system_error);
    EXPECT_EQ(close(each), 0);
  }
  EXPECT_THROW(static_cast<void>(endpoint::adopt_descriptor(-1)), std::system_error);
}

TEST_F(endpoints, are_not_inherited) {
  const std::set<int> before = inherited_descriptors();  // somebody else's
  auto [first, second] = endpoint::make_socket_pair();
  const endpoint listening = endpoint::listen(socket_address::loopback());
  const endpoint connecting = endpoint::stream_socket(socket_address::loopback());
  const scratch_file file("x");
  const endpoint opened = endpoint::open_file(file.path(), access::read);
  const auto [reading, writing] = endpoint::make_pipe();
  EXPECT_EQ(inherited_descriptors(), before);
}

#endif

}  // namespace
}  // namespace safe
