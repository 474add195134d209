// libuv's timers, its asynchronous wake-ups and its watching of descriptors, on a thread that runs a loop. Apart from
// uv_async_send, only that thread may do anything with them.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../harness/placement.hpp"
#include "../harness/signals.hpp"

template <bool Rearm>
class libuv_sources {
 public:
  explicit libuv_sources(const bench::plan& how) {
    if (uv_loop_init(&loop_) != 0 || uv_async_init(&loop_, &command_sent_, &libuv_sources::run_command) != 0) {
      throw std::runtime_error("a loop of libuv could not be made");
    }
    command_sent_.data = this;
    thread_ = std::jthread([this, how] {
      how.place_worker(0);
      uv_run(&loop_, UV_RUN_DEFAULT);  // until nothing is left to watch
    });
  }
  ~libuv_sources() {
    as_owner([this] { uv_close(handle_of(command_sent_), nullptr); });
    thread_.join();
    uv_loop_close(&loop_);
  }
  libuv_sources(const libuv_sources&) = delete;
  libuv_sources& operator=(const libuv_sources&) = delete;

  template <class Body>
  void as_owner(Body body) {
    command_ = std::ref(body);
    uv_async_send(&command_sent_);
    done_.acquire();
  }

  class timers {
   public:
    template <class F>
    timers(libuv_sources& mine, std::size_t count, F f) : mine_(mine), f_(std::move(f)), timers_(count) {
      mine_.as_owner([this] {
        for (uv_timer_t& each : timers_) {
          uv_timer_init(&mine_.loop_, &each);
          each.data = this;
        }
      });
    }
    ~timers() {
      mine_.as_owner([this] {
        for (uv_timer_t& each : timers_) {
          uv_close(handle_of(each), nullptr);
        }
      });
      mine_.let_loop_close();
    }
    timers(const timers&) = delete;
    timers& operator=(const timers&) = delete;

    void arm_after(std::size_t index, bench::clock::duration delay) {
      uv_timer_start(&timers_[index], &timers::run, milliseconds(delay), 0);
    }
    // The loop's time, to which the time-out is added, is that of its last look at the clock.
    void arm_at(std::size_t index, bench::clock::time_point due) {
      uv_update_time(&mine_.loop_);
      arm_after(index, due - bench::clock::now());
    }
    void cancel(std::size_t index) { uv_timer_stop(&timers_[index]); }
    void settle() {}

   private:
    static std::uint64_t milliseconds(bench::clock::duration duration) {
      return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
    }
    static void run(uv_timer_t* timer) {
      auto* self = static_cast<timers*>(timer->data);
      self->f_(static_cast<std::size_t>(timer - self->timers_.data()));
    }

    libuv_sources& mine_;
    std::function<void(std::size_t)> f_;
    std::vector<uv_timer_t> timers_;
  };

  // Both of these go on by themselves, so that there is nothing to re-arm; with Rearm, descriptors are started anew for
  // each callback all the same.
  template <bench::signal_kind Kind, class F>
  class watch {
   public:
    watch(libuv_sources& mine, F f) : mine_(mine), f_(std::move(f)) {}
    ~watch() {
      mine_.as_owner([this] { uv_close(handle_of(handle_), nullptr); });
      mine_.let_loop_close();
    }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    void arm() {
      if (std::exchange(made_, true)) {
        rearm();
        return;
      }
      if constexpr (Kind == bench::signal_kind::event) {
        uv_async_init(&mine_.loop_, &handle_, [](uv_async_t* handle) { run(handle->data); });
      } else {
        uv_poll_init(&mine_.loop_, &handle_, event_.get());
        start();
      }
      handle_.data = this;
    }
    void rearm() {
      if constexpr (Rearm && Kind == bench::signal_kind::descriptor) {
        start();
      }
    }
    void signal() {
      if constexpr (Kind == bench::signal_kind::event) {
        uv_async_send(&handle_);
      } else {
        event_.signal();
      }
    }
    void consume() {
      if constexpr (Kind == bench::signal_kind::descriptor) {
        event_.consume();
      }
    }

   private:
    void start() {
      uv_poll_start(&handle_, UV_READABLE, [](uv_poll_t* handle, int, int) { run(handle->data); });
    }
    static void run(void* self) {
      auto& mine = *static_cast<watch*>(self);
      mine.f_(mine);
    }

    libuv_sources& mine_;
    F f_;
    bool made_ = false;
    bench::event_descriptor event_;  // of events: not used
    std::conditional_t<Kind == bench::signal_kind::event, uv_async_t, uv_poll_t> handle_{};
  };

 private:
  template <class Handle>
  static uv_handle_t* handle_of(Handle& handle) {
    return reinterpret_cast<uv_handle_t*>(&handle);
  }

  static void run_command(uv_async_t* sent) {
    auto* self = static_cast<libuv_sources*>(sent->data);
    self->command_();
    self->done_.release();
  }

  // What is being closed is in use until the loop has come round.
  void let_loop_close() {
    as_owner([] {});
  }

  uv_loop_t loop_;
  uv_async_t command_sent_;
  std::function<void()> command_;
  std::binary_semaphore done_{0};
  std::jthread thread_;
};
