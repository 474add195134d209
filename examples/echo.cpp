// A TCP server that sends back what it receives: echo [ADDRESS], for example echo 127.0.0.1:7777 or echo [::1]:7777. It
// listens on a free port of the loopback interface unless told otherwise, and says where. On the first interrupt
// (Ctrl+C) it accepts nothing more and lets the clients that are there finish; on the second it cuts them off.
// tested by: echo_test.py
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <tidepool/tidepool.hpp>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#endif

using namespace std::chrono_literals;

namespace {

// ---- one client ----------------------------------------------------------------------------------------

class clients;

/// Receives, sends that back, and so on until the client has stopped sending. The handlers use it freely: it waits for
/// them before it goes.
class client {
 public:
  client(clients& all, tidepool::endpoint socket) : all_(all), socket_(std::move(socket)) {}
  ~client() { socket_.stop_and_drain(); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  std::list<client>::iterator place;

  void receive(tidepool::buffer memory) {
    socket_.receive(std::move(memory), [this](tidepool::transfer<> received) {
      if (received.error || received.bytes == 0) {
        socket_.shutdown_send();  // everything has been sent back
        finish();
      } else {
        send(std::move(received));
      }
    });
  }

 private:
  void send(tidepool::transfer<> what) {
    socket_.send(std::move(what.buffer), what.bytes, [this](tidepool::transfer<> sent) {
      count(sent.bytes);
      if (sent.error) {
        finish();
      } else {
        receive(std::move(sent.buffer));
      }
    });
  }

  void count(std::size_t bytes);
  void finish();

  clients& all_;
  tidepool::io socket_;
};

// ---- all of them ---------------------------------------------------------------------------------------

class clients {
 public:
  /// `changed` is set whenever the last one has gone.
  explicit clients(tidepool::event changed) : changed_(std::move(changed)) {}

  /// Cuts off those that are left.
  ~clients() {
    std::list<client> left;
    {
      const std::lock_guard lock(mutex_);
      left.swap(here_);
      cut_off_ = true;  // what their handlers say from now on is of no interest
    }
    left.clear();
    remove_gone_.stop_and_drain();
  }
  clients(const clients&) = delete;
  clients& operator=(const clients&) = delete;

  void add(tidepool::endpoint socket) {
    std::unique_lock lock(mutex_);
    client& added = here_.emplace_front(*this, std::move(socket));
    added.place = here_.begin();
    ++number_;
    ++served_;
    lock.unlock();
    added.receive(tidepool::buffer(4096));
  }

  /// In a handler of that client, which therefore can not be destroyed here: an io would wait for its own handler.
  void finished(client& which) {
    const std::lock_guard lock(mutex_);
    if (!cut_off_) {
      gone_.splice(gone_.begin(), here_, which.place);
      remove_gone_.submit();
    }
  }

  void count(std::size_t bytes) { bytes_ += bytes; }

  [[nodiscard]] bool none() {
    const std::lock_guard lock(mutex_);
    return number_ == 0;
  }

  [[nodiscard]] unsigned long long served() const { return served_; }
  [[nodiscard]] unsigned long long bytes() const { return bytes_; }

 private:
  void remove_gone() {
    std::list<client> removed;
    {
      const std::lock_guard lock(mutex_);
      removed.swap(gone_);
    }
    const std::size_t number = removed.size();
    removed.clear();  // waits for their last handlers
    const std::lock_guard lock(mutex_);
    number_ -= number;
    if (number_ == 0) {
      changed_.set();
    }
  }

  tidepool::event changed_;
  std::atomic<unsigned long long> served_ = 0;
  std::atomic<unsigned long long> bytes_ = 0;
  std::mutex mutex_;
  std::size_t number_ = 0;  // those that are gone and not yet removed included
  bool cut_off_ = false;
  std::list<client> here_;
  std::list<client> gone_;
  tidepool::work remove_gone_{[this] { remove_gone(); }};
};

void client::count(std::size_t bytes) { all_.count(bytes); }

void client::finish() { all_.finished(*this); }

// ---- the listener --------------------------------------------------------------------------------------

class acceptor {
 public:
  acceptor(tidepool::endpoint listening, clients& all) : all_(all), listener_(std::move(listening)) {
    for (int i = 0; i != 16; ++i) {
      accept();
    }
  }

  /// Accepts nothing more. What handlers of listener_ start while it is being drained is discarded, so that comes to an
  /// end.
  ~acceptor() {
    stopped_ = true;
    listener_.stop_and_drain();
    again_.stop_and_drain();
  }
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

 private:
  void accept() {
    if (stopped_) {
      return;
    }
    listener_.accept([this](tidepool::acceptance accepted) {
      if (!accepted.error) {
        all_.add(std::move(accepted.connection));
        accept();
      } else if (accepted.error != std::errc::operation_canceled) {
        std::fprintf(stderr, "can not accept: %s\n", accepted.error.message().c_str());
        ++postponed_;
        again_.set_after(100ms);  // there may be descriptors again
      }
    });
  }

  clients& all_;
  std::atomic<bool> stopped_ = false;
  std::atomic<int> postponed_ = 0;
  tidepool::timer again_{[this] {
    for (int n = postponed_.exchange(0); n != 0; --n) {
      accept();
    }
  }};
  tidepool::io listener_;
};

// ---- interrupts ----------------------------------------------------------------------------------------

std::atomic<int> interrupts = 0;

#ifdef _WIN32

tidepool::event* interrupted = nullptr;

BOOL WINAPI note_interrupt(DWORD) {  // on a thread that the system makes for it
  ++interrupts;
  interrupted->set();
  return TRUE;
}

class interrupt_handler {
 public:
  explicit interrupt_handler(tidepool::event& changed) {
    interrupted = &changed;
    SetConsoleCtrlHandler(&note_interrupt, TRUE);
  }
  ~interrupt_handler() { SetConsoleCtrlHandler(&note_interrupt, FALSE); }
};

#else

int pipe_for_interrupts[2];

void note_interrupt(int) {  // a signal handler: it can do little more than this
  static_cast<void>(!write(pipe_for_interrupts[1], "", 1));
}

class interrupt_handler {
 public:
  explicit interrupt_handler(tidepool::event changed) : changed_(std::move(changed)), pipe_(make_pipe()) {
    read(tidepool::buffer(1));
    std::signal(SIGINT, &note_interrupt);
  }
  ~interrupt_handler() {
    std::signal(SIGINT, SIG_DFL);
    pipe_.stop_and_drain();
  }
  interrupt_handler(const interrupt_handler&) = delete;
  interrupt_handler& operator=(const interrupt_handler&) = delete;

 private:
  static tidepool::endpoint make_pipe() {
    if (pipe2(pipe_for_interrupts, O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    return tidepool::endpoint::adopt_descriptor(pipe_for_interrupts[0]);
  }

  void read(tidepool::buffer memory) {
    pipe_.read(std::move(memory), [this](tidepool::transfer<> result) {
      if (!result.error) {
        ++interrupts;
        changed_.set();
        read(std::move(result.buffer));
      }
    });
  }

  tidepool::event changed_;
  tidepool::io pipe_;
};

#endif

/// One descriptor for each client.
void allow_many_clients() {
#ifndef _WIN32
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
#endif
}

void serve(const tidepool::socket_address& where) {
  allow_many_clients();
  tidepool::event changed{tidepool::reset_mode::automatic};
  const interrupt_handler handler(changed);
  clients all(changed);
  tidepool::endpoint listening = tidepool::endpoint::listen(where);
  std::printf("listening on %s\n", listening.local_address().to_string().c_str());
  std::fflush(stdout);

  std::optional<acceptor> accepting;
  accepting.emplace(std::move(listening), all);
  while (interrupts == 0) {
    changed.wait();
  }
  accepting.reset();
  std::puts("no new clients");
  std::fflush(stdout);
  while (interrupts == 1 && !all.none()) {
    changed.wait();
  }
  std::printf("%s after %llu clients and %llu bytes\n", all.none() ? "finished" : "cut off", all.served(), all.bytes());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2 || (argc == 2 && std::strcmp(argv[1], "--help") == 0)) {
      std::fprintf(stderr, "usage: echo [ADDRESS], such as 127.0.0.1:7777 or [::1]:7777\n");
      return 2;
    }
    serve(argc == 2 ? tidepool::socket_address::parse(argv[1]) : tidepool::socket_address::loopback());
    return 0;
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "echo: %s\n", error.what());
    return 1;
  }
}
