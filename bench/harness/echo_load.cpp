// The load of ECHO, the same program for every server: two threads, each with half of the connections, non-blocking
// and watched with epoll. Each connection has one request on its way. Prints the time of all requests, the median and
// the 99th percentile of their latencies, in nanoseconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "echo.hpp"

namespace {

using bench::clock;

constexpr std::size_t load_threads = 2;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "echo_load: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

class client {
 public:
  client(std::uint16_t port, std::uint64_t requests) : left_(requests) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0 || connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      fail("cannot connect");
    }
    bench::send_at_once(socket_);
  }
  ~client() { close(socket_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  [[nodiscard]] int get() const noexcept { return socket_; }

  void ask() {
    std::memcpy(request_, &left_, sizeof left_);
    began_ = clock::now();
    if (send(socket_, request_, sizeof request_, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof request_) {
      fail("cannot send");
    }
    received_ = 0;
  }

  // Something has come. False when it was the end of the last answer.
  bool hear(std::vector<double>& latencies) {
    const ssize_t size = recv(socket_, answer_ + received_, sizeof answer_ - received_, MSG_DONTWAIT);
    if (size <= 0) {
      fail("the server has gone");
    }
    received_ += static_cast<std::size_t>(size);
    if (received_ < sizeof answer_) {
      return true;
    }
    latencies.push_back(bench::nanoseconds(clock::now() - began_));
    if (std::memcmp(request_, answer_, sizeof answer_) != 0) {
      errno = EBADMSG;
      fail("a wrong answer");
    }
    if (--left_ == 0) {
      return false;
    }
    ask();
    return true;
  }

 private:
  int socket_;
  std::uint64_t left_;
  std::size_t received_ = 0;
  clock::time_point began_;
  char request_[bench::request_size] = {};
  char answer_[bench::request_size] = {};
};

// One thread's part of the load, from when `ready` has let all go.
template <class Ready>
std::vector<double> ask_all(std::vector<std::unique_ptr<client>>& clients, std::uint64_t requests, Ready& ready) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) {
    fail("epoll_create1");
  }
  for (const auto& each : clients) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = each.get();
    if (epoll_ctl(poller, EPOLL_CTL_ADD, each->get(), &event) != 0) {
      fail("epoll_ctl");
    }
  }
  std::vector<double> latencies;
  latencies.reserve(clients.size() * requests);
  ready.arrive_and_wait();
  for (const auto& each : clients) {
    each->ask();
  }
  for (std::size_t going = clients.size(); going > 0;) {
    epoll_event events[bench::echo_connections];
    const int count = epoll_wait(poller, events, static_cast<int>(std::size(events)), -1);
    for (int i = 0; i < count; ++i) {
      going -= static_cast<client*>(events[i].data.ptr)->hear(latencies) ? 0U : 1U;
    }
  }
  close(poller);
  return latencies;
}

int run(std::uint16_t port, std::uint64_t requests, bench::placement where) {
  bench::plan how;
  how.where = where;
  how.cores = bench::usable_cores();
  std::vector<double> latencies[load_threads];
  clock::time_point begin, ends[load_threads];
  std::barrier ready(static_cast<std::ptrdiff_t>(load_threads), [&begin]() noexcept { begin = clock::now(); });
  std::latch done(static_cast<std::ptrdiff_t>(load_threads));
  {
    std::vector<std::jthread> threads;
    for (std::size_t index = 0; index < load_threads; ++index) {
      threads.emplace_back([&, index] {
        how.place_submitter(index);
        std::vector<std::unique_ptr<client>> clients;
        for (std::size_t i = 0; i < bench::echo_connections / load_threads; ++i) {
          clients.push_back(std::make_unique<client>(port, requests));
        }
        latencies[index] = ask_all(clients, requests, ready);
        ends[index] = clock::now();
        done.arrive_and_wait();  // all connections stay until the last answer has come
      });
    }
    threads.clear();
  }
  std::vector<double> all;
  for (const auto& each : latencies) {
    all.insert(all.end(), each.begin(), each.end());
  }
  std::sort(all.begin(), all.end());
  const clock::duration total = *std::max_element(std::begin(ends), std::end(ends)) - begin;
  std::printf("%.0f %.0f %.0f\n", bench::nanoseconds(total), bench::percentile(all, 0.5), bench::percentile(all, 0.99));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s PORT REQUESTS-PER-CONNECTION free|spread\n", argv[0]);
    return 2;
  }
  return run(static_cast<std::uint16_t>(std::atoi(argv[1])), std::strtoull(argv[2], nullptr, 10),
             std::strcmp(argv[3], "spread") == 0 ? bench::placement::spread : bench::placement::free);
}
