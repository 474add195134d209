#include "engine/poller.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <mutex>
#include <new>

#include "engine/fork.hpp"
#include "engine/poll_target.hpp"
#include "engine/pool.hpp"
#include "engine/start_thread.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::engine {

namespace {

constexpr std::uint64_t call_key = 0;
constexpr std::uint64_t first_clock_key = 1;
static_assert(first_clock_key + clock_count <= poller::first_descriptor_key);

constexpr int most_events = 64;

/// The guard's naps, each longer than the one before while it is not needed, until it sleeps; and how long until it goes.
constexpr std::int64_t shortest_nap = 1'000'000;
constexpr std::int64_t longest_nap = 8'000'000;
constexpr std::int64_t guard_patience = 5'000'000'000;
constexpr int guard_sits_milliseconds = 1000;
constexpr std::size_t guard_stack = std::size_t{256} << 10;

constexpr clockid_t system_clock_of(clock_kind of) noexcept {
  return of == clock_kind::monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

void drain(int counter) noexcept {
  std::uint64_t value;
  static_cast<void>(!read(counter, &value, sizeof value));
}

int to_milliseconds(std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t longest = 1'000'000'000;
  return static_cast<int>(std::min(nanoseconds / 1'000'000 + 1, longest));
}

}  // namespace

poller& poller::instance() noexcept {
  // Never destroyed: threads may sit in it until the process is gone.
  alignas(poller) static unsigned char storage[sizeof(poller)];
  static poller& only = *::new (static_cast<void*>(storage)) poller;
  return only;
}

bool poller::open() noexcept {
  if (open_.load(std::memory_order_acquire)) {  // pairs with the release below
    return true;
  }
  const std::lock_guard guard(lock_);
  if (open_.load(std::memory_order_relaxed)) {
    return true;
  }
  const auto watch = [this](int descriptor, std::uint32_t mode, std::uint64_t key) {
    epoll_event wanted{EPOLLIN | mode, {.u64 = key}};
    return descriptor >= 0 && epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wanted) == 0;
  };
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  call_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool good = epoll_ >= 0 && watch(call_, 0, call_key);
  for (std::size_t i = 0; i != clock_count; ++i) {
    clocks_[i] = timerfd_create(system_clock_of(static_cast<clock_kind>(i)), TFD_CLOEXEC | TFD_NONBLOCK);
    // Edge-triggered: one thread answers each alarm, and setting the next makes it quiet.
    good = good && watch(clocks_[i], EPOLLET, first_clock_key + i);
  }
  if (!good) {
    abandon();
    return false;
  }
  open_.store(true, std::memory_order_release);
  return true;
}

void poller::abandon() noexcept {
  for (int* const each : {&clocks_[0], &clocks_[1], &call_, &epoll_}) {
    if (*each >= 0) {
      close(*each);
      *each = -1;
    }
  }
}

bool poller::reopen() noexcept {
  if (!open_.load(std::memory_order_relaxed)) {
    return true;
  }
  abandon();
  open_.store(false, std::memory_order_relaxed);
  return open();
}

// ---- the alarm clock -----------------------------------------------------------------------------------

std::uint64_t poller::now(clock_kind of) const noexcept {
  timespec time{};
  clock_gettime(system_clock_of(of), &time);
  return time.tv_sec < 0
             ? 0
             : static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

void poller::set(clock_kind of, std::uint64_t moment) noexcept {
  itimerspec alarm{};
  const std::uint64_t latest = INT64_MAX;
  moment = std::clamp<std::uint64_t>(moment, 1, latest);  // zero would disarm it
  alarm.it_value = {static_cast<time_t>(moment / 1'000'000'000u), static_cast<long>(moment % 1'000'000'000u)};
  timerfd_settime(clocks_[static_cast<std::size_t>(of)], TFD_TIMER_ABSTIME, &alarm, nullptr);
}

// ---- being served --------------------------------------------------------------------------------------

void poller::begin_interest() noexcept {
  require_threads();
  interest_.fetch_add(1, std::memory_order_seq_cst);
}

void poller::end_interest() noexcept {
  if (interest_.fetch_sub(1, std::memory_order_seq_cst) == 1 && long_sit_.exchange(false, std::memory_order_seq_cst)) {
    call_sitter();  // or it would sit there for nothing
  }
}

void poller::serve(_TP_POOL& pool) noexcept {
  // A worker comes back to look by itself, most likely soon.
  if (worker::current() != nullptr || !pool.send_to_seat()) {
    wake_guard();
  }
}

void poller::leave() noexcept {
  {
    const std::lock_guard guard(lock_);
    seat_.store(nullptr, std::memory_order_seq_cst);
    long_sit_.store(false, std::memory_order_relaxed);
  }
  ensure_guarded();
}

void poller::call_sitter() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!write(call_, &one, sizeof one));
}

/// Does what follows from events. Returns whether there were any but calls.
bool poller::handle(const epoll_event* events, int count, const worker* self) noexcept {
  bool happened = false;
  deferred_actions later;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t key = events[i].data.u64;
    if (key == call_key) {
      // For the sitter, unless it is a late one for a sitter who has gone.
      const std::lock_guard guard(lock_);
      const worker* const sitter = seat_.load(std::memory_order_relaxed);
      if (sitter == nullptr || sitter == self) {
        drain(call_);
      }
      continue;
    }
    happened = true;
    if (key < first_descriptor_key) {
      alarms_.fetch_add(1, std::memory_order_relaxed);
      timers.expire(static_cast<clock_kind>(key - first_clock_key), later);
    } else {
      poll_target::note(key, events[i].events);
    }
  }
  later.run_all();
  return happened;
}

bool poller::wait(int milliseconds) noexcept {
  epoll_event events[most_events];
  return handle(events, epoll_wait(epoll_, events, most_events, milliseconds), nullptr);
}

bool poller::look() noexcept {
  looks_.fetch_add(1, std::memory_order_relaxed);
  return wait(0);
}

bool poller::take_seat(worker& self) noexcept {
  const std::lock_guard guard(lock_);
  if (!wants_sitter()) {
    return false;
  }
  seat_.store(&self, std::memory_order_seq_cst);
  return true;
}

bool poller::sit(worker& self, std::int64_t patience) noexcept {
  if (!take_seat(self)) {
    return false;
  }
  int milliseconds = to_milliseconds(patience);
  while (!self.is_woken()) {
    if (milliseconds < 0) {
      // From here on what ends the interest ends the sitting. It looks at the flag after; so one sees the other.
      long_sit_.store(true, std::memory_order_seq_cst);
      if (interest_.load(std::memory_order_seq_cst) == 0) {
        break;
      }
    }
    epoll_event events[most_events];
    const int count = epoll_wait(epoll_, events, most_events, milliseconds);
    if (count == 0) {
      milliseconds = -1;
    } else if (count > 0) {
      // What follows from the events needs to call no other worker of the pool: this one is awake.
      const bool rises = self.pool.rise_from_seat(self);
      handle(events, count, &self);
      if (rises && !self.pool.return_to_seat(self)) {
        break;  // there is something to run
      }
    }
  }
  leave();
  return true;
}

void poller::nap(worker& self, std::int64_t nanoseconds) noexcept {
  if (!take_seat(self)) {
    self.sleep(nanoseconds);
    return;
  }
  looks_.fetch_add(1, std::memory_order_relaxed);
  int count = 0;
  if (!self.is_woken()) {
    const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    epoll_event events[most_events];
    count = epoll_pwait2(epoll_, events, most_events, &limit, nullptr);
    if (count > 0) {
      self.pool.rise_from_seat(self);
      handle(events, count, &self);
    }
  }
  leave();
  if (count < 0) {
    self.sleep(nanoseconds);  // a system without that call, most likely
  }
}

// ---- the guard -----------------------------------------------------------------------------------------

void poller::wake_guard() noexcept {
  {
    const std::lock_guard guard(lock_);
    const guard_state before = guard_.load(std::memory_order_relaxed);
    if (before == guard_state::awake) {
      return;
    }
    guard_.store(guard_state::awake, std::memory_order_seq_cst);
    if (before == guard_state::asleep) {
      guard_calls_.fetch_add(1, std::memory_order_relaxed);
      futex_wake(guard_calls_, 1);
      return;
    }
  }
  if (!start_thread(&guard_main, this, guard_stack)) {
    const std::lock_guard guard(lock_);
    guard_.store(guard_state::none, std::memory_order_seq_cst);
  }
}

void* poller::guard_main(void* self) noexcept {
  pthread_setname_np(pthread_self(), "tidepool-guard");
  static_cast<poller*>(self)->stand_guard();
  return nullptr;
}

void poller::stand_guard() noexcept {
  std::uint32_t seen = looks_.load(std::memory_order_relaxed);
  std::int64_t nap = shortest_nap;
  for (;;) {
    const timespec time{0, nap};
    nanosleep(&time, nullptr);
    const std::uint32_t looks = looks_.load(std::memory_order_relaxed);
    if (!wants_sitter()) {
      nap *= 2;
      if (nap > longest_nap) {
        if (!guard_sleeps()) {
          return;
        }
        nap = shortest_nap;
      }
    } else {
      nap = shortest_nap;
      while (wants_sitter() && looks_.load(std::memory_order_relaxed) == seen) {
        wait(guard_sits_milliseconds);
      }
    }
    seen = looks;
  }
}

/// Returns whether it has been called. If not, it must go.
bool poller::guard_sleeps() noexcept {
  const std::uint32_t calls = guard_calls_.load(std::memory_order_relaxed);
  const auto change = [this](guard_state from, guard_state to) {
    const std::lock_guard guard(lock_);
    if (guard_.load(std::memory_order_relaxed) == from) {
      guard_.store(to, std::memory_order_seq_cst);
    }
  };
  change(guard_state::awake, guard_state::asleep);
  if (wants_sitter()) {
    change(guard_state::asleep, guard_state::awake);
    return true;
  }
  const timespec limit{guard_patience / 1'000'000'000, guard_patience % 1'000'000'000};
  futex_wait(guard_calls_, calls, &limit);
  const std::lock_guard guard(lock_);
  if (guard_.load(std::memory_order_relaxed) == guard_state::asleep) {
    guard_.store(guard_state::none, std::memory_order_seq_cst);
  }
  return guard_.load(std::memory_order_relaxed) != guard_state::none;
}

}  // namespace tidepool::engine

ULONGLONG TidepoolAlarms() noexcept { return tidepool::engine::poller::instance().alarms(); }
