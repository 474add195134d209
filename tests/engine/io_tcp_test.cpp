// Reads of TCP sockets, which are not tried while the socket is known to be empty. What comes in one event with the bytes
// before it must not be overlooked for that.
#include <array>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "contract/io_fixtures.hpp"
#include "tidepool/win32/tpextensions.h"

namespace {

using namespace contract;

/// Two sockets that are connected: one is the engine's, of the other the test is the peer.
class tcp_pair {
 public:
  tcp_pair() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&where), size), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size), 0);
    peer_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(peer_, reinterpret_cast<sockaddr*>(&where), size), 0);
    ours_ = TidepoolOpenDescriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_NE(ours_, nullptr);
    close(listener);
    const int on = 1;
    setsockopt(peer_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~tcp_pair() {
    CloseHandle(ours_);
    end();
  }
  tcp_pair(const tcp_pair&) = delete;
  tcp_pair& operator=(const tcp_pair&) = delete;

  [[nodiscard]] HANDLE ours() const { return ours_; }

  void say(std::string_view text, int flags = 0) const {
    EXPECT_EQ(send(peer_, text.data(), text.size(), flags), static_cast<ssize_t>(text.size()));
  }
  /// All that was said has reached the other socket.
  void be_heard() const {
    EXPECT_TRUE(eventually([this] {
      int left = 0;
      return ioctl(peer_, SIOCOUTQ, &left) == 0 && left == 0;
    }));
  }
  void stop_talking() const { EXPECT_EQ(shutdown(peer_, SHUT_WR), 0); }
  void end() {
    if (peer_ >= 0) {
      close(std::exchange(peer_, -1));
    }
  }
  void break_off() {
    const linger at_once{1, 0};
    setsockopt(peer_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    end();
  }

 private:
  int peer_ = -1;
  HANDLE ours_ = nullptr;
};

class io_of_tcp : public io_test {
 protected:
  static constexpr int rounds = 20;

  /// Reads once with the answer on its way, and once what there is: from then on the socket is known to be empty.
  static void warm_up(recorded_io& reads, const tcp_pair& sockets) {
    request first{100};
    ASSERT_EQ(reads.start_read(sockets.ours(), first), code(ERROR_IO_PENDING));
    sockets.say("first");
    ASSERT_EQ(reads.of(first), success(5));
  }

  static void expect_text(recorded_io& reads, const tcp_pair& sockets, std::string_view text) {
    request its{100};
    EXPECT_EQ(reads.read(sockets.ours(), its), success(text.size()));
    EXPECT_EQ(its.text(text.size()), text);
  }
  static void expect_end(recorded_io& reads, const tcp_pair& sockets) {
    request its{100};
    EXPECT_EQ(reads.read(sockets.ours(), its), success(0));
  }
};

TEST_F(io_of_tcp, what_comes_after_a_short_read_is_read) {
  const tcp_pair sockets;
  recorded_io reads{sockets.ours()};
  warm_up(reads, sockets);
  for (int round = 0; round != rounds; ++round) {
    sockets.say("word");
    expect_text(reads, sockets, "word");
    request waits{100};
    ASSERT_EQ(reads.start_read(sockets.ours(), waits), code(ERROR_IO_PENDING));
    sockets.say("other");
    ASSERT_EQ(reads.of(waits), success(5));
  }
}

TEST_F(io_of_tcp, what_came_while_nobody_read_is_read) {
  const tcp_pair sockets;
  const tcp_pair others;
  recorded_io reads{sockets.ours()};
  recorded_io reads_of_others{others.ours()};
  warm_up(reads, sockets);
  for (int round = 0; round != rounds; ++round) {
    sockets.say("word");
    warm_up(reads_of_others, others);  // by then the event has been seen
    expect_text(reads, sockets, "word");
  }
}

TEST_F(io_of_tcp, what_was_left_by_a_full_read_is_read) {
  const tcp_pair sockets;
  recorded_io reads{sockets.ours()};
  warm_up(reads, sockets);
  sockets.say("onetwothree");
  sockets.be_heard();
  for (const std::string_view text : {"one", "two", "thr"}) {
    request its{3};
    ASSERT_EQ(reads.read(sockets.ours(), its), success(3));
    EXPECT_EQ(its.text(3), text);
  }
  expect_text(reads, sockets, "ee");
}

TEST_F(io_of_tcp, what_was_left_by_a_read_in_many_parts_is_read) {
  const tcp_pair sockets;
  recorded_io reads{sockets.ours()};
  warm_up(reads, sockets);
  constexpr std::size_t many = 1025;  // one more than a call of the system takes
  sockets.say(std::string(many, 'x'));
  sockets.be_heard();
  std::array<char, many> bytes{};
  std::array<iovec, many> parts{};
  for (std::size_t i = 0; i != many; ++i) {
    parts[i] = {&bytes[i], 1};
  }
  request in_parts{std::size_t{0}};
  reads.start();
  const BOOL done = TidepoolReadVector(sockets.ours(), parts.data(), many, &in_parts);
  ASSERT_TRUE(done || GetLastError() == ERROR_IO_PENDING);
  ASSERT_EQ(reads.of(in_parts), success(many - 1));
  expect_text(reads, sockets, "x");
}

TEST_F(io_of_tcp, the_end_that_comes_with_the_last_bytes_is_seen) {
  for (int round = 0; round != rounds; ++round) {
    const tcp_pair sockets;
    recorded_io reads{sockets.ours()};
    warm_up(reads, sockets);
    request last{100};
    ASSERT_EQ(reads.start_read(sockets.ours(), last), code(ERROR_IO_PENDING));
    sockets.say("last", MSG_MORE);  // kept back, so that it goes in one segment with the end
    sockets.stop_talking();
    EXPECT_EQ(reads.of(last), success(4));
    expect_end(reads, sockets);
    expect_end(reads, sockets);
  }
}

TEST_F(io_of_tcp, the_end_that_came_while_nobody_read_is_seen) {
  const tcp_pair others;
  recorded_io reads_of_others{others.ours()};
  for (int round = 0; round != rounds; ++round) {
    const tcp_pair sockets;
    recorded_io reads{sockets.ours()};
    warm_up(reads, sockets);
    sockets.say("last", MSG_MORE);
    sockets.stop_talking();
    warm_up(reads_of_others, others);  // by then the event has been seen
    expect_text(reads, sockets, "last");
    expect_end(reads, sockets);
  }
}

TEST_F(io_of_tcp, the_end_of_reading_by_this_side_is_seen) {
  for (int round = 0; round != rounds; ++round) {
    const tcp_pair sockets;
    recorded_io reads{sockets.ours()};
    warm_up(reads, sockets);
    sockets.say("last");
    sockets.be_heard();
    EXPECT_EQ(shutdown(TidepoolDescriptorOf(sockets.ours()), SHUT_RD), 0);
    expect_text(reads, sockets, "last");
    expect_end(reads, sockets);
  }
}

TEST_F(io_of_tcp, a_reset_after_the_last_bytes_is_seen) {
  for (int round = 0; round != rounds; ++round) {
    tcp_pair sockets;
    recorded_io reads{sockets.ours()};
    warm_up(reads, sockets);
    sockets.say("last");
    sockets.be_heard();
    sockets.break_off();
    expect_text(reads, sockets, "last");
    request its{100};
    EXPECT_EQ(reads.read(sockets.ours(), its), (outcome{ERROR_NETNAME_DELETED, 0}));
  }
}

/// A read stops before urgent data, and goes on behind it.
TEST_F(io_of_tcp, what_is_behind_urgent_data_is_read) {
  for (int round = 0; round != rounds; ++round) {
    const tcp_pair sockets;
    recorded_io reads{sockets.ours()};
    warm_up(reads, sockets);
    sockets.say("before");
    sockets.say("!", MSG_OOB);
    sockets.say("behind");
    sockets.be_heard();
    expect_text(reads, sockets, "before");
    expect_text(reads, sockets, "behind");
  }
}

/// A read of a Unix domain socket stops behind what a descriptor came with.
TEST_F(io_of_tcp, a_socket_of_another_kind_may_have_more_after_a_short_read) {
  for (int round = 0; round != rounds; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const handle ours{TidepoolOpenDescriptor(ends[0])};
    recorded_io reads{ours};
    request first{100};
    ASSERT_EQ(reads.start_read(ours, first), code(ERROR_IO_PENDING));
    ASSERT_EQ(send(ends[1], "first", 5, 0), 5);
    ASSERT_EQ(reads.of(first), success(5));
    iovec text{const_cast<char*>("with"), 4};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
    ASSERT_EQ(sendmsg(ends[1], &message, 0), 4);
    ASSERT_EQ(send(ends[1], "without", 7, 0), 7);
    request with{100};
    EXPECT_EQ(reads.read(ours, with), success(4));
    request without{100};
    EXPECT_EQ(reads.read(ours, without), success(7));
    close(ends[1]);
  }
}

}  // namespace
