// The baseline: a mutex, a condition variable and a deque of tasks, as a careful programmer writes it in an hour.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../harness/main.hpp"

namespace {

// A callable kept in place: half a cache line, no allocation, no virtual call, copied as bytes.
class task {
 public:
  template <class F>
  explicit task(F f) : run_([](task& self) { (*std::launder(reinterpret_cast<F*>(self.state_)))(); }) {
    static_assert(sizeof(F) <= sizeof state_ && alignof(F) <= alignof(void*), "the closure does not fit");
    static_assert(std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>);
    ::new (static_cast<void*>(state_)) F(std::move(f));
  }

  void operator()() { run_(*this); }

 private:
  void (*run_)(task&);
  alignas(void*) std::byte state_[24];
};

class mutex_pool {
 public:
  static constexpr const char* name = "mutex";

  explicit mutex_pool(const bench::setup& wanted) {
    const std::size_t workers = wanted.workers > 0 ? wanted.workers : std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < workers; ++i) {
      workers_.emplace_back([this] { work(); });
    }
  }

  ~mutex_pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    arrived_.notify_all();
  }

  // Signals inside the lock, and only when somebody waits. A signal after the lock lets the woken worker drain the
  // queue before the submitter has it again, so that worker falls asleep between submissions and each one pays for
  // a wake-up: several times slower here with the workers spread over the cores. A worker that is not waiting looks
  // at the queue before it waits, so it needs no signal.
  void push(const task& what) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(what);
    if (idle_ > 0) {
      arrived_.notify_one();
    }
  }

  class session {
   public:
    explicit session(mutex_pool& pool) : pool_(pool) {}

    template <class F>
    void submit(F f) {
      pool_.push(task(std::move(f)));
    }
    template <class F>
    void submit_inside(F f) {
      submit(std::move(f));
    }

    struct handle {
      mutex_pool& pool;
      task what;
      void submit() { pool.push(what); }
      void submit_inside() { pool.push(what); }
    };
    template <class F>
    handle repeat(F f, std::size_t) {
      return {pool_, task(std::move(f))};
    }

    template <class Wait>
    void wait(Wait for_callbacks) {
      for_callbacks();
    }

   private:
    mutex_pool& pool_;
  };

  template <class Body>
  void as_submitter(Body body) {
    session mine(*this);
    body(mine);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (queue_.empty() && !stopping_) {
        ++idle_;
        arrived_.wait(lock);
        --idle_;
      }
      if (queue_.empty()) {
        return;
      }
      task next = queue_.front();
      queue_.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<task> queue_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> workers_;  // last: joined before the rest goes
};

// A task for each read, which calls pread and submits the next one.
class mutex_files {
 public:
  static constexpr const char* name = mutex_pool::name;

  mutex_files(const bench::plan& how, int file) : file_(file), pool_(bench::setup{how.workers, 1}) {
    bench::place_workers(pool_, how);
  }

  void start(std::span<bench::read_chain> chains) {
    for (bench::read_chain& each : chains) {
      start(each);
    }
  }

 private:
  void start(bench::read_chain& chain) {
    pool_.push(task([this, &chain] {
      const ssize_t size = pread(file_, chain.buffer(), bench::read_size, static_cast<off_t>(chain.offset()));
      chain.completed(chain.buffer(), size < 0 ? 0 : static_cast<std::size_t>(size),
                      [this](bench::read_chain& next) { start(next); });
    }));
  }

  int file_;
  mutex_pool pool_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<mutex_pool, bench::none, mutex_files>(argc, argv); }
