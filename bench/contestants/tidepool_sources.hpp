// tidepool's timers, and waits for events and descriptors.
#pragma once

#include <tidepool/tidepool.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "../harness/cases.hpp"
#include "../harness/signals.hpp"

template <class Pool>
class tidepool_sources {
 public:
  explicit tidepool_sources(const bench::plan& how) : pool_(bench::setup{how.workers, 1}) {
    bench::place_workers(pool_, how);
  }

  template <class Body>
  void as_owner(Body body) {
    body();
  }

  class timers {
   public:
    template <class F>
    timers(tidepool_sources& mine, std::size_t count, F f) {
      timers_.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        timers_.emplace_back([f, i] { f(i); }, mine.pool_.environment());
      }
    }

    void arm_after(std::size_t index, bench::clock::duration delay) noexcept { timers_[index].set_after(delay); }
    void arm_at(std::size_t index, bench::clock::time_point due) noexcept {
      timers_[index].set_after(due - bench::clock::now());
    }
    void cancel(std::size_t index) noexcept { timers_[index].disarm(); }
    void settle() noexcept {}

   private:
    std::vector<tidepool::timer> timers_;
  };

  // The two kinds of objects.
  struct event {
    tidepool::event object{tidepool::reset_mode::automatic};
    tidepool::waitable_handle handle() const { return object; }
    void signal() const noexcept { object.set(); }
    void consume() const noexcept {}  // the wait has reset it
  };
  struct descriptor {
    bench::event_descriptor object;
    tidepool::waitable_handle handle() const { return tidepool::waitable_handle::from_descriptor(object.get()); }
    void signal() const noexcept { object.signal(); }
    void consume() const noexcept { object.consume(); }
  };

  template <bench::signal_kind Kind, class F>
  class watch {
   public:
    watch(tidepool_sources& mine, F f)
        : f_(std::move(f)),
          wait_(
              object_.handle(),
              [this](tidepool::wait_activation& activation) {
                fired now{object_, activation};
                f_(now);
              },
              mine.pool_.environment()) {}
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    void arm() noexcept { wait_.arm(); }
    void signal() const noexcept { object_.signal(); }

   private:
    using object_type = std::conditional_t<Kind == bench::signal_kind::event, event, descriptor>;
    struct fired {
      const object_type& object;
      tidepool::wait_activation& activation;
      void consume() const noexcept { object.consume(); }
      void rearm() const noexcept { activation.rearm(); }
      void signal() const noexcept { object.signal(); }
    };

    object_type object_;
    F f_;
    tidepool::wait wait_;  // last: drained before the rest goes
  };

 private:
  Pool pool_;
};
