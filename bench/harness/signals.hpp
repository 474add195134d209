// G: from a signal to the callback that waits for it.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "latency.hpp"
#include "placement.hpp"
#include "tally.hpp"

namespace bench {

enum class signal_kind {
  event,      // the library's own object that threads signal, or what comes closest to one
  descriptor  // an eventfd
};

// An eventfd: for descriptors, and for events where the library has none of its own.
class event_descriptor {
 public:
  event_descriptor() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_ < 0) {
      throw std::system_error(errno, std::generic_category(), "eventfd");
    }
  }
  ~event_descriptor() { close(fd_); }
  event_descriptor(const event_descriptor&) = delete;
  event_descriptor& operator=(const event_descriptor&) = delete;

  void signal() const noexcept { (void)eventfd_write(fd_, 1); }
  void consume() const noexcept {
    eventfd_t value = 0;
    (void)eventfd_read(fd_, &value);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

// G_event and G_fd: signals one object that a callback waits for, `samples` times, with a rest between them.
template <signal_kind Kind, class Sources>
std::vector<metric> wake_by_signal(Sources& sources, const plan& how, std::size_t samples) {
  std::vector<metric> result;
  std::jthread submitter([&] {
    probe seen;
    const auto callback = [&seen](auto& fired) {
      seen.start();
      fired.consume();
      fired.rearm();
      seen.finish();
    };
    typename Sources::template watch<Kind, decltype(callback)> watch(sources, callback);
    sources.as_owner([&watch] { watch.arm(); });
    result =
        sample_latency(how, samples, seen, [&watch] { watch.signal(); }, [](auto until_it_ran) { until_it_ran(); });
  });
  submitter.join();
  return result;
}

// A callback that starts its own next run.
struct cycle {
  std::uint64_t* left;

  template <class Fired>
  void operator()(Fired& fired) const {
    fired.consume();
    const bool again = --*left > 0;  // before the next run may begin
    if (again) {
      fired.rearm();
      fired.signal();
    }
    callbacks.hit();  // last: with the last hit the run is over
  }
};

constexpr std::size_t cycling_objects = 64;

// G_event_cycles and G_fd_cycles: 64 armed objects are signalled; each one's callback re-arms and signals it again.
template <signal_kind Kind, class Sources>
class signal_cycles {
 public:
  explicit signal_cycles(Sources& sources) : sources_(sources), left_(cycling_objects) {
    for (counter& each : left_) {
      watches_.push_back(std::make_unique<watch>(sources_, cycle{&each.cycles}));
    }
  }

  // `times` cycles of each object.
  clock::duration run(const plan& how, std::uint64_t times) {
    clock::time_point begin, end;
    callbacks.expect(cycling_objects * times);
    std::jthread submitter([&] {
      how.place_submitter(0);
      for (counter& each : left_) {
        each.cycles = times;
      }
      sources_.as_owner([this] {
        for (const auto& each : watches_) {
          each->arm();
        }
      });
      begin = clock::now();
      for (const auto& each : watches_) {
        each->signal();
      }
      callbacks.wait();
      end = clock::now();
    });
    submitter.join();
    return end - begin;
  }

 private:
  using watch = typename Sources::template watch<Kind, cycle>;
  struct alignas(128) counter {
    std::uint64_t cycles = 0;
  };

  Sources& sources_;
  std::vector<counter> left_;
  std::vector<std::unique_ptr<watch>> watches_;  // last: gone before what their callbacks count in
};

}  // namespace bench
