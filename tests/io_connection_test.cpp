// Listening, accepting, connecting, and the halves of a connection.
#include <vector>

#include "io.hpp"

namespace safe {
namespace {

class connections : public safe_test {
 protected:
  connections() : connections(endpoint::listen(socket_address::loopback())) {}

  socket_address address_;
  io listener_;

  /// The two ends of a new connection.
  std::pair<endpoint, io> connect() {
    io client(endpoint::stream_socket(address_));
    answer<acceptance> accepted;
    answer<connection_result> connected;
    listener_.accept(accepted.handler());
    client.connect(address_, connected.handler());
    EXPECT_FALSE(connected.get().error) << connected.get().error.message();
    EXPECT_FALSE(accepted.get().error) << accepted.get().error.message();
    return {std::move(accepted.get().connection), std::move(client)};
  }

  static std::string receive_all(io& from) {
    std::string all;
    while (true) {
      text_answer received;
      from.receive(std::string(100, ' '), received.handler());
      EXPECT_FALSE(received.get().error) << received.get().error.message();
      if (received.get().bytes == 0) {
        return all;
      }
      all += text_of(received.get());
    }
  }

 private:
  explicit connections(endpoint listening) : address_(listening.local_address()), listener_(std::move(listening)) {}
};

TEST_F(connections, are_accepted_and_carry_both_ways) {
  auto [accepted, client] = connect();
  EXPECT_EQ(accepted.kind(), endpoint_kind::socket);
  io server(std::move(accepted));
  write_and_wait<socket_kind>(client, "question");
  text_answer question;
  server.receive(std::string(8, ' '), question.handler());
  expect_read(question.get(), "question");
  write_and_wait<socket_kind>(server, "answer");
  text_answer answer;
  client.receive(std::string(6, ' '), answer.handler());
  expect_read(answer.get(), "answer");
}

TEST_F(connections, tell_who_is_at_the_other_end) {
  endpoint client = endpoint::stream_socket(address_);
  EXPECT_SYSTEM_ERROR(static_cast<void>(client.peer_address()), std::errc::not_connected);
  auto [accepted, bound] = connect();
  EXPECT_EQ(accepted.local_address(), address_);
  EXPECT_NE(accepted.peer_address(), address_);
  EXPECT_EQ(accepted.peer_address().to_string().substr(0, 10), "127.0.0.1:");
}

TEST_F(connections, that_nobody_asks_for_leave_an_accept_pending) {
  answer<acceptance> accepted;
  const operation_id id = listener_.accept(accepted.handler());
  EXPECT_EQ(listener_.outstanding(), 1u);
  let_another_pool_work();
  EXPECT_FALSE(accepted.is_here());
  EXPECT_TRUE(listener_.cancel(id));
  EXPECT_EQ(accepted.get().error, std::errc::operation_canceled);
  EXPECT_FALSE(accepted.get().connection);
}

TEST_F(connections, wait_to_be_accepted) {
  io client(endpoint::stream_socket(address_));
  answer<connection_result> connected;
  client.connect(address_, connected.handler());
  EXPECT_FALSE(connected.get().error);
  answer<acceptance> accepted;
  listener_.accept(accepted.handler());
  EXPECT_FALSE(accepted.get().error);
  EXPECT_TRUE(accepted.get().connection);
}

TEST_F(connections, are_accepted_once_each_when_many_accepts_are_outstanding) {
  constexpr std::size_t number = 32;
  std::vector<answer<acceptance>> accepts(number);
  for (const auto& each : accepts) {
    listener_.accept(each.handler());
  }
  EXPECT_EQ(listener_.outstanding(), number);
  std::vector<io> clients;
  std::vector<answer<connection_result>> connects(number);
  for (const auto& each : connects) {
    clients.emplace_back(endpoint::stream_socket(address_));
    clients.back().connect(address_, each.handler());
  }
  std::vector<socket_address> peers;
  for (std::size_t i = 0; i != number; ++i) {
    EXPECT_FALSE(connects[i].get().error) << connects[i].get().error.message();
    ASSERT_TRUE(accepts[i].get().connection);
    peers.push_back(accepts[i].get().connection.peer_address());
  }
  std::sort(peers.begin(), peers.end());
  EXPECT_EQ(std::unique(peers.begin(), peers.end()), peers.end());
}

TEST_F(connections, that_nobody_accepts_are_refused) {
  socket_address nobody;
  {
    const endpoint closed = endpoint::listen(socket_address::loopback());
    nobody = closed.local_address();
  }
  io client(endpoint::stream_socket(nobody));
  answer<connection_result> connected;
  client.connect(nobody, connected.handler());
  EXPECT_EQ(connected.get().error, std::errc::connection_refused);
  EXPECT_EQ(connected.get().error, std::error_code(1225, tidepool::win32_category()));
}

TEST_F(connections, to_no_address_are_refused) {
  io client(endpoint::stream_socket(address_));
  answer<connection_result> connected;
  client.connect(socket_address(), connected.handler());
  EXPECT_TRUE(connected.get().error);
}

TEST_F(connections, are_made_once) {
  auto [accepted, client] = connect();
  answer<connection_result> again;
  client.connect(address_, again.handler());
  EXPECT_EQ(again.get().error, std::errc::already_connected);
}

TEST_F(connections, that_are_not_there_carry_nothing) {
  io client(endpoint::stream_socket(address_));
  text_answer sent;
  client.send(std::string("text"), sent.handler());
  EXPECT_EQ(sent.get().error, std::errc::not_connected);
  EXPECT_EQ(sent.get().buffer, "text");
  text_answer received;
  client.receive(std::string(4, ' '), received.handler());
  EXPECT_EQ(received.get().error, std::errc::not_connected);
  EXPECT_EQ(client.shutdown_send(), std::errc::not_connected);
}

TEST_F(connections, work_with_ipv6_too) {
  std::optional<endpoint> listening;
  try {
    listening = endpoint::listen(socket_address::parse("[::1]:0"));
  } catch (const std::system_error&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  const socket_address there = listening->local_address();
  EXPECT_EQ(there.to_string(), "[::1]:" + std::to_string(there.port()));
  io listener(std::move(*listening));
  io client(endpoint::stream_socket(there));
  answer<acceptance> accepted;
  answer<connection_result> connected;
  listener.accept(accepted.handler());
  client.connect(there, connected.handler());
  EXPECT_FALSE(connected.get().error) << connected.get().error.message();
  ASSERT_TRUE(accepted.get().connection);
  EXPECT_EQ(accepted.get().connection.peer_address().to_string().substr(0, 6), "[::1]:");
}

#ifndef _WIN32
TEST_F(connections, work_in_the_unix_domain_too) {
  const scratch_file path;
  const socket_address there = socket_address::parse("unix:" + path.path().string());
  io listener(endpoint::listen(there));
  io client(endpoint::stream_socket(there));
  answer<acceptance> accepted;
  answer<connection_result> connected;
  listener.accept(accepted.handler());
  client.connect(there, connected.handler());
  EXPECT_FALSE(connected.get().error) << connected.get().error.message();
  ASSERT_TRUE(accepted.get().connection);
  EXPECT_EQ(accepted.get().connection.local_address(), there);
  EXPECT_EQ(accepted.get().connection.peer_address().to_string(), "unix:");
}
#endif

// ---- half-close ----------------------------------------------------------------------------------------

TEST_F(connections, end_in_one_direction_and_go_on_in_the_other) {
  auto [accepted, client] = connect();
  io server(std::move(accepted));
  write_and_wait<socket_kind>(client, "the last words");
  EXPECT_FALSE(client.shutdown_send());
  EXPECT_EQ(receive_all(server), "the last words");
  write_and_wait<socket_kind>(server, "are answered");
  EXPECT_FALSE(server.shutdown_send());
  EXPECT_EQ(receive_all(client), "are answered");
}

TEST_F(connections, that_have_ended_their_sending_send_nothing_more) {
  auto [accepted, client] = connect();
  EXPECT_FALSE(client.shutdown_send());
  text_answer sent;
  client.send(std::string("text"), sent.handler());
  EXPECT_EQ(sent.get().error, std::errc::broken_pipe);
}

TEST_F(connections, end_a_pending_receive_when_the_peer_stops_sending) {
  auto [accepted, client] = connect();
  io server(std::move(accepted));
  text_answer received;
  server.receive(std::string(4, ' '), received.handler());
  EXPECT_FALSE(client.shutdown_send());
  expect_read(received.get(), "");
}

TEST_F(connections, can_be_cancelled_while_they_are_made) {
  // Nobody ever answers from there; where the network says so at once there is nothing to cancel.
  const socket_address nowhere = socket_address::parse("192.0.2.1:9");
  io client(endpoint::stream_socket(nowhere));
  answer<connection_result> connected;
  const operation_id id = client.connect(nowhere, connected.handler());
  if (client.cancel(id) && connected.get().error != std::errc::network_unreachable) {
    EXPECT_EQ(connected.get().error, std::errc::operation_canceled);
  }
  EXPECT_TRUE(connected.get().error);
}

}  // namespace
}  // namespace safe
