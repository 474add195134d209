// The cases that submit: the same code for every contestant.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "contestant.hpp"
#include "figures.hpp"
#include "latency.hpp"
#include "placement.hpp"
#include "tally.hpp"

namespace bench {

// Holds each worker in a callback until all are held, so that every callback has a thread of its own; there each is
// placed.
template <class Contestant>
void place_workers(Contestant& pool, const plan& how) {
  // Static: the last callback may still be inside count_down() when wait() returns.
  static std::latch all_held(static_cast<std::ptrdiff_t>(how.workers));
  static std::latch all_left(static_cast<std::ptrdiff_t>(how.workers));
  std::atomic<std::size_t> next{0};
  const auto place = [&] {
    how.place_worker(next.fetch_add(1));
    all_held.arrive_and_wait();
    all_left.count_down();
  };
  pool.as_submitter([&](auto& session) {
    for (std::size_t worker = 0; worker < how.workers; ++worker) {
      session.submit([&place] { place(); });
    }
    session.wait([&] { all_left.wait(); });
  });
}

// Runs `prepare(session)` on each of `submitters` threads, then what that returned on all of them at once. The
// time begins when the last of them is ready and ends when `expected` callbacks have run.
template <class Contestant, class Prepare>
clock::duration time_submitters(Contestant& pool, const plan& how, std::size_t submitters, std::uint64_t expected,
                                Prepare prepare) {
  callbacks.expect(expected);
  clock::time_point begin;
  std::vector<clock::time_point> ends(submitters);
  std::barrier ready(static_cast<std::ptrdiff_t>(submitters), [&begin]() noexcept { begin = clock::now(); });
  {
    std::vector<std::jthread> threads;
    for (std::size_t index = 0; index < submitters; ++index) {
      threads.emplace_back([&, index] {
        how.place_submitter(index);
        pool.as_submitter([&](auto& session) {
          auto submit_all = prepare(session);
          ready.arrive_and_wait();
          submit_all();
          session.wait([] { callbacks.wait(); });
          ends[index] = clock::now();
        });
      });
    }
  }
  return *std::max_element(ends.begin(), ends.end()) - begin;
}

struct count_one {
  void operator()() const noexcept { callbacks.hit(); }
};

// A and B: `submitters` threads, each with a work object of its own that it submits `times` times.
template <class Contestant>
clock::duration submit_repeatedly(Contestant& pool, const plan& how, std::size_t submitters, std::uint64_t times) {
  return time_submitters(pool, how, submitters, submitters * times, [times](auto& session) {
    return [times, work = session.repeat(count_one{}, times)]() mutable {
      for (std::uint64_t i = 0; i < times; ++i) {
        work.submit();
      }
    };
  });
}

// Two words of state, as small as useful closures get.
struct count_one_with_state {
  const void* owner;
  std::uint64_t index;
  void operator()() const noexcept { callbacks.hit(); }
};

// A1: one thread submits `times` closures.
template <class Contestant>
clock::duration submit_closures(Contestant& pool, const plan& how, std::uint64_t times) {
  return time_submitters(pool, how, 1, times, [times](auto& session) {
    return [times, &session] {
      for (std::uint64_t i = 0; i < times; ++i) {
        session.submit(count_one_with_state{&session, i});
      }
    };
  });
}

template <class Session>
struct branch {
  Session* session;
  int depth_below;

  void operator()() const {
    if (depth_below > 0) {
      session->submit_inside(branch{session, depth_below - 1});
      session->submit_inside(branch{session, depth_below - 1});
    }
    callbacks.hit();  // last: with the last hit the submitter's session goes
  }
};

constexpr std::uint64_t tree_size(int depth) { return (std::uint64_t{2} << depth) - 1; }

// C: a closure submits two more, down to `depth`.
template <class Contestant>
clock::duration grow_tree(Contestant& pool, const plan& how, int depth) {
  return time_submitters(pool, how, 1, tree_size(depth), [depth](auto& session) {
    return [depth, &session] { session.submit(branch<std::remove_reference_t<decltype(session)>>{&session, depth}); };
  });
}

template <class Session>
struct rally {
  void* const* other;
  std::uint64_t* left;

  void operator()() const {
    using handle = decltype(std::declval<Session&>().repeat(std::declval<rally>(), std::size_t{}));
    if (--*left > 0) {
      static_cast<handle*>(*other)->submit_inside();
    }
    callbacks.hit();  // last: with the last hit all that this uses goes
  }
};

// E: two callbacks submit each other, `times` times each.
template <class Contestant>
clock::duration submit_each_other(Contestant& pool, const plan& how, std::uint64_t times) {
  std::uint64_t left = 2 * times;
  void* ping_handle = nullptr;
  void* pong_handle = nullptr;
  return time_submitters(pool, how, 1, 2 * times, [&](auto& session) {
    using callback = rally<std::remove_reference_t<decltype(session)>>;
    return [&, ping = session.repeat(callback{&pong_handle, &left}, 2),
            pong = session.repeat(callback{&ping_handle, &left}, 2)]() mutable {
      ping_handle = &ping;
      pong_handle = &pong;
      ping.submit();
    };
  });
}

// D: submits to a pool that has been left alone for a millisecond, `samples` times. D1: while one of its threads
// computes all the time.
template <class Contestant>
std::vector<metric> wake_idle_pool(Contestant& pool, const plan& how, std::size_t samples, bool beside) {
  std::vector<metric> result;
  std::jthread submitter([&] {
    pool.as_submitter([&](auto& session) {
      computation busy;
      auto computing = session.repeat([&busy] { busy.run(); }, 1);
      if (beside) {
        busy.start([&computing] { computing.submit(); });
      }
      probe seen;
      auto work = session.repeat(
          [&seen] {
            seen.start();
            seen.finish();
          },
          samples);
      result = sample_latency(
          how, samples, seen, [&work] { work.submit(); },
          [&session](auto until_it_ran) { session.wait(until_it_ran); });
      busy.stop();  // before what would wait for its callback goes
    });
  });
  submitter.join();
  return result;
}

// A gate that blocks callbacks until one opens it.
class gate {
 public:
  explicit gate(std::ptrdiff_t callbacks_through) : all_through_(callbacks_through) {}

  void pass() {
    {
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return open_; });
    }
    all_through_.count_down();
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
    all_through_.count_down();
  }
  void wait_until_all_are_through() const { all_through_.wait(); }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  std::latch all_through_;
};

constexpr std::uint64_t blockers = 64;

// I: 64 callbacks that block until the 65th runs.
template <class Contestant>
clock::duration block_until_another_runs(Contestant& pool) {
  // Static: the last callback may still be inside the gate when the wait for it returns.
  static gate way(static_cast<std::ptrdiff_t>(blockers + 1));
  clock::time_point begin, end;
  pool.as_submitter([&](auto& session) {
    begin = clock::now();
    for (std::uint64_t i = 0; i < blockers; ++i) {
      session.submit([] {
        callbacks.hit();
        way.pass();
      });
    }
    session.submit([] {
      callbacks.hit();
      way.open();
    });
    session.wait([] { way.wait_until_all_are_through(); });
    end = clock::now();
  });
  return end - begin;
}

}  // namespace bench
