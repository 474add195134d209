// asio's timers, and its waits for descriptors, which have to do for events, too. All of it runs on the threads of
// asio::thread_pool, and with that executor's own type: the default one, which holds any executor, costs more.
#pragma once

#include <asio/basic_waitable_timer.hpp>
#include <asio/error_code.hpp>
#include <asio/posix/basic_stream_descriptor.hpp>
#include <asio/thread_pool.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "../harness/cases.hpp"
#include "../harness/signals.hpp"

// Memory for one operation of a timer, and the allocator that makes asio use it.
struct alignas(std::max_align_t) operation_memory {
  std::byte bytes[80];
};
template <class T>
struct in_place_allocator {
  using value_type = T;

  explicit in_place_allocator(operation_memory& where) noexcept : memory(&where) {}
  template <class U>
  explicit in_place_allocator(const in_place_allocator<U>& other) noexcept : memory(other.memory) {}

  T* allocate(std::size_t) noexcept {
    static_assert(sizeof(T) <= sizeof(operation_memory) && alignof(T) <= alignof(operation_memory));
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T*, std::size_t) noexcept {}
  template <class U>
  friend bool operator==(const in_place_allocator& a, const in_place_allocator<U>& b) noexcept {
    return a.memory == b.memory;
  }

  operation_memory* memory;
};

// Tuned: a timer's operation lies in memory beside the timer instead of being allocated when it is armed, and all are
// armed for moments counted from one look at the clock.
template <class Pool, bool Tuned>
class asio_sources {
 public:
  explicit asio_sources(const bench::plan& how) : pool_(bench::setup{how.workers, 1}) {
    bench::place_workers(pool_, how);
  }

  template <class Body>
  void as_owner(Body body) {
    body();
  }

  class timers {
   public:
    template <class F>
    timers(asio_sources& mine, std::size_t count, F f)
        : f_(std::move(f)), begin_(bench::clock::now()), memory_(Tuned ? count : 0) {
      timers_.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        timers_.emplace_back(mine.pool_.native().get_executor());
      }
    }
    timers(const timers&) = delete;
    timers& operator=(const timers&) = delete;

    void arm_after(std::size_t index, bench::clock::duration delay) {
      if constexpr (Tuned) {
        timers_[index].expires_at(begin_ + delay);  // which does not read the clock
      } else {
        timers_[index].expires_after(delay);
      }
      wait_for(index);
    }
    void arm_at(std::size_t index, bench::clock::time_point due) {
      timers_[index].expires_at(due);
      wait_for(index);
    }
    void cancel(std::size_t index) { timers_[index].cancel(); }
    // A cancelled timer's handler is called, too, and keeps its memory until then.
    void settle() { bench::callbacks.wait(); }

   private:
    void wait_for(std::size_t index) {
      if constexpr (Tuned) {
        timers_[index].async_wait(handler_in_place{{this, index}});
      } else {
        timers_[index].async_wait(handler{this, index});
      }
    }

    struct handler {
      timers* set;
      std::size_t index;
      void operator()(const asio::error_code& error) const {
        if (error) {
          bench::callbacks.hit();  // cancelled: settle() waits for it
        } else {
          set->f_(index);
        }
      }
    };
    struct handler_in_place : handler {
      using allocator_type = in_place_allocator<std::byte>;
      allocator_type get_allocator() const noexcept { return allocator_type(this->set->memory_[this->index]); }
    };

    using timer =
        asio::basic_waitable_timer<bench::clock, asio::wait_traits<bench::clock>, asio::thread_pool::executor_type>;
    std::function<void(std::size_t)> f_;
    bench::clock::time_point begin_;
    std::vector<operation_memory> memory_;
    std::vector<timer> timers_;
  };

  template <bench::signal_kind, class F>
  class watch {
   public:
    watch(asio_sources& mine, F f) : f_(std::move(f)), descriptor_(mine.pool_.native().get_executor(), event_.get()) {}
    ~watch() { descriptor_.release(); }  // what it still waits for is called back with an error, and stops at that
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    void arm() {
      descriptor_.async_wait(asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
        if (!error) {
          f_(*this);
        }
      });
    }
    void rearm() { arm(); }
    void signal() const noexcept { event_.signal(); }
    void consume() const noexcept { event_.consume(); }

   private:
    F f_;
    bench::event_descriptor event_;
    asio::posix::basic_stream_descriptor<asio::thread_pool::executor_type> descriptor_;
  };

 private:
  Pool pool_;
};
