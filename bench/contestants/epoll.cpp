// The floor: what one thread and the kernel do, without a library between them. It sleeps in epoll_wait; a descriptor
// is watched with EPOLLONESHOT and re-armed with EPOLL_CTL_MOD, and of timers, whose moments are known and sorted
// beforehand, the next one is programmed into a timerfd.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../harness/main.hpp"
#include "epoll_server.hpp"

namespace {

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

// Something that the thread calls when its descriptor is readable.
struct readable {
  void (*run)(readable*);
};

class epoll_sources {
 public:
  static constexpr const char* name = "epoll";

  explicit epoll_sources(const bench::plan& how) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) {
      fail("epoll_create1");
    }
    control(EPOLL_CTL_ADD, stop_.get(), EPOLLIN, nullptr);
    thread_ = std::jthread([this, how] {
      how.place_worker(0);
      loop();
    });
  }
  ~epoll_sources() {
    stop_.signal();
    thread_.join();
    close(epoll_);
  }
  epoll_sources(const epoll_sources&) = delete;
  epoll_sources& operator=(const epoll_sources&) = delete;

  template <class Body>
  void as_owner(Body body) {
    body();
  }

  // Armed in the order of their moments.
  class timers : readable {
   public:
    template <class F>
    timers(epoll_sources& mine, std::size_t count, F f)
        : readable{&timers::expire},
          mine_(mine),
          f_(std::move(f)),
          due_(count),
          clock_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
      if (clock_ < 0) {
        fail("timerfd_create");
      }
      mine_.control(EPOLL_CTL_ADD, clock_, EPOLLIN, static_cast<readable*>(this));
    }
    ~timers() { close(clock_); }
    timers(const timers&) = delete;
    timers& operator=(const timers&) = delete;

    void arm_at(std::size_t index, bench::clock::time_point due) {
      due_[index] = due;
      if (index + 1 == due_.size()) {
        program(due_.front());
      }
    }

   private:
    static void expire(readable* base) {
      auto& self = *static_cast<timers*>(base);
      while (self.due_[self.next_] <= bench::clock::now()) {
        const std::size_t index = self.next_++;
        if (self.next_ == self.due_.size()) {
          std::uint64_t expirations = 0;
          (void)!read(self.clock_, &expirations, sizeof expirations);
          self.f_(index);  // last: with the last callback all that this uses may go
          return;
        }
        self.f_(index);
      }
      self.program(self.due_[self.next_]);  // which also makes the timerfd unreadable: no need to read it
    }

    void program(bench::clock::time_point due) const {
      constexpr std::int64_t billion = 1'000'000'000;
      const std::int64_t when = due.time_since_epoch().count();  // of CLOCK_MONOTONIC, in nanoseconds
      itimerspec setting{};
      setting.it_value.tv_sec = when / billion;
      setting.it_value.tv_nsec = when % billion;
      timerfd_settime(clock_, TFD_TIMER_ABSTIME, &setting, nullptr);
    }

    epoll_sources& mine_;
    std::function<void(std::size_t)> f_;
    std::vector<bench::clock::time_point> due_;
    std::size_t next_ = 0;
    int clock_;
  };

  template <bench::signal_kind, class F>
  class watch : readable {
   public:
    watch(epoll_sources& mine, F f) : readable{&watch::run}, mine_(mine), f_(std::move(f)) {
      mine_.control(EPOLL_CTL_ADD, event_.get(), 0, static_cast<readable*>(this));
    }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    void arm() { mine_.control(EPOLL_CTL_MOD, event_.get(), EPOLLIN | EPOLLONESHOT, static_cast<readable*>(this)); }
    void rearm() { arm(); }
    void signal() const noexcept { event_.signal(); }
    void consume() const noexcept { event_.consume(); }

   private:
    static void run(readable* base) {
      auto& self = *static_cast<watch*>(base);
      self.f_(self);
    }

    epoll_sources& mine_;
    F f_;
    bench::event_descriptor event_;
  };

 private:
  void control(int operation, int descriptor, std::uint32_t events, readable* what) const {
    epoll_event event{};
    event.events = events;
    event.data.ptr = what;
    if (epoll_ctl(epoll_, operation, descriptor, &event) != 0) {
      fail("epoll_ctl");
    }
  }

  void loop() const {
    epoll_event events[bench::cycling_objects];
    for (;;) {
      const int count = epoll_wait(epoll_, events, static_cast<int>(std::size(events)), -1);
      for (int i = 0; i < count; ++i) {
        auto* const what = static_cast<readable*>(events[i].data.ptr);
        if (what == nullptr) {
          return;
        }
        what->run(what);
      }
    }
  }

  int epoll_;
  bench::event_descriptor stop_;
  std::jthread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::none, epoll_sources, bench::none, epoll_server>(argc, argv);
}
