// Owners for timers and waits, their due times, and what tests of both kinds need.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>

#include "contract/fixtures.hpp"
#include "contract/objects.hpp"

namespace contract {

using namespace std::chrono_literals;

/// What a FILETIME counts: 100 ns.
using ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

inline constexpr DWORD period_of(std::chrono::milliseconds period) { return static_cast<DWORD>(period.count()); }

/// The due time or time-out whose bits are those of `value`: relative when negative, else absolute.
inline FILETIME filetime(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  FILETIME result;
  result.dwLowDateTime = static_cast<DWORD>(bits);
  result.dwHighDateTime = static_cast<DWORD>(bits >> 32);
  return result;
}

inline FILETIME relative(ticks delay) { return filetime(-delay.count()); }

/// The farthest due times there are.
inline constexpr std::int64_t farthest_absolute = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t farthest_relative = std::numeric_limits<std::int64_t>::min();

/// System time since 1601, rounded down: it is not less than a due time that has come.
inline ticks system_time() {
  constexpr std::chrono::seconds from_1601_to_1970{11'644'473'600};
  return from_1601_to_1970 + std::chrono::floor<ticks>(std::chrono::system_clock::now().time_since_epoch());
}

inline std::chrono::nanoseconds monotonic_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

/// How far the clock of due times may lie behind the one that the tests read: a step of its own on Windows.
#ifdef _WIN32
inline constexpr std::chrono::milliseconds clock_step{16};
#else
inline constexpr std::chrono::milliseconds clock_step{0};
#endif

/// Calls `steps(delay)`, which arms something new with that delay and disarms it, until that was over before the delay could
/// be: a busy machine may take the processor away in between. Returns the delay.
template <class Steps>
ticks in_time(Steps steps) {
  for (std::chrono::milliseconds least = 10ms;; least *= 2) {
    const ticks delay = least + clock_step;
    const auto begin = monotonic_time();
    steps(delay);
    if (monotonic_time() - begin < least) {
      return delay;
    }
  }
}

/// A delay that ends after the test.
inline constexpr std::chrono::hours far_away{1};

/// An owned timer that calls `f()` or `f(instance)`. Its destructor unsets it and waits for the callbacks.
class timer {
 public:
  template <class F>
  explicit timer(F f, PTP_CALLBACK_ENVIRON how = nullptr)
      : function_{to_instance_function(std::move(f))}, timer_{CreateThreadpoolTimer(&timer::run, this, how)} {
    EXPECT_NE(timer_, nullptr);
  }

  ~timer() {
    if (timer_ != nullptr) {
      unset();
      wait_for_callbacks();
      close();
    }
  }

  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  [[nodiscard]] PTP_TIMER get() const { return timer_; }

  void set(FILETIME due, DWORD period = 0, DWORD window = 0) { SetThreadpoolTimer(timer_, &due, period, window); }
  void set_after(ticks delay, DWORD period = 0, DWORD window = 0) { set(relative(delay), period, window); }
  void set_at(ticks since_1601, DWORD period = 0) { set(filetime(since_1601.count()), period); }
  void set_now(DWORD period = 0) { set(filetime(0), period); }
  void unset() { SetThreadpoolTimer(timer_, nullptr, 0, 0); }
  [[nodiscard]] bool is_set() const { return IsThreadpoolTimerSet(timer_) != FALSE; }

  void wait_for_callbacks() { WaitForThreadpoolTimerCallbacks(timer_, FALSE); }
  void cancel() { WaitForThreadpoolTimerCallbacks(timer_, TRUE); }
  void close() { CloseThreadpoolTimer(std::exchange(timer_, nullptr)); }

  /// The object is released by somebody else from now on.
  void disown() { timer_ = nullptr; }

 private:
  static void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_TIMER) {
    static_cast<timer*>(context)->function_(instance);
  }

  instance_function function_;
  PTP_TIMER timer_;
};

/// An owned wait that calls `f()`, `f(result)` or `f(instance)`. Its destructor unsets it and waits for the callbacks.
/// Where the system's function of that name is declared too, a file that uses it says `using contract::wait`.
class wait {
 public:
  template <class F>
  explicit wait(F f, PTP_CALLBACK_ENVIRON how = nullptr)
      : function_{adapt(std::move(f))}, wait_{CreateThreadpoolWait(&wait::run, this, how)} {
    EXPECT_NE(wait_, nullptr);
  }

  ~wait() {
    if (wait_ != nullptr) {
      unset();
      wait_for_callbacks();
      close();
    }
  }

  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;

  [[nodiscard]] PTP_WAIT get() const { return wait_; }

  void set(HANDLE object) { SetThreadpoolWait(wait_, object, nullptr); }
  void set(HANDLE object, FILETIME timeout) { SetThreadpoolWait(wait_, object, &timeout); }
  void unset() { SetThreadpoolWait(wait_, nullptr, nullptr); }

  void wait_for_callbacks() { WaitForThreadpoolWaitCallbacks(wait_, FALSE); }
  void cancel() { WaitForThreadpoolWaitCallbacks(wait_, TRUE); }
  void close() { CloseThreadpoolWait(std::exchange(wait_, nullptr)); }

  /// The object is released by somebody else from now on.
  void disown() { wait_ = nullptr; }

 private:
  using function = std::function<void(PTP_CALLBACK_INSTANCE, TP_WAIT_RESULT)>;

  template <class F>
  static function adapt(F f) {
    if constexpr (std::is_invocable_v<F&, PTP_CALLBACK_INSTANCE>) {
      return function{[f = std::move(f)](PTP_CALLBACK_INSTANCE instance, TP_WAIT_RESULT) mutable { f(instance); }};
    } else if constexpr (std::is_invocable_v<F&, TP_WAIT_RESULT>) {
      return function{[f = std::move(f)](PTP_CALLBACK_INSTANCE, TP_WAIT_RESULT result) mutable { f(result); }};
    } else {
      return function{[f = std::move(f)](PTP_CALLBACK_INSTANCE, TP_WAIT_RESULT) mutable { f(); }};
    }
  }

  static void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WAIT, TP_WAIT_RESULT result) {
    static_cast<wait*>(context)->function_(instance, result);
  }

  function function_;
  PTP_WAIT wait_;
};

/// Returns when a timer of another pool has fired that was due `delay` from now: what was due before is queued, or was
/// not going to be.
inline void let_due_times_pass(ticks delay = 20ms) {
  const pool other;
  environment where{other};
  gate fired;
  timer later{[&] { fired.open(); }, where};
  later.set_after(delay);
  EXPECT_TRUE(fired.pass());
}

/// Returns when a wait of another pool was satisfied by a signal given now: the waits that earlier signals satisfied
/// are queued.
inline void let_signals_arrive() {
  const pool other;
  environment where{other};
  const handle event = automatic_event();
  gate satisfied;
  contract::wait later{[&] { satisfied.open(); }, where};
  later.set(event);
  EXPECT_TRUE(SetEvent(event));
  EXPECT_TRUE(satisfied.pass());
}

}  // namespace contract
