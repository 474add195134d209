// A timer that re-arms itself measures from the end of one run to the next; a periodic one ticks until it is stopped.
// prints: attempt 1 failed
// prints: attempt 2 failed
// prints: attempt 3 succeeded
// prints: stopped by tick 5
#include <atomic>
#include <chrono>
#include <cstdio>
#include <tidepool/tidepool.hpp>

using namespace std::chrono_literals;

int main() {
  int attempts = 0;
  tidepool::event connected{tidepool::reset_mode::manual};
  tidepool::timer retry{[&](tidepool::timer_firing& firing) {
    ++attempts;
    if (attempts < 3) {
      std::printf("attempt %d failed\n", attempts);
      firing.rearm_after(attempts * 5ms);  // counts from when this callback has returned
    } else {
      std::printf("attempt %d succeeded\n", attempts);
      connected.set();
    }
  }};
  retry.set_after(0ms);
  connected.wait();

  constexpr int wanted = 5;
  std::atomic<int> ticks = 0;
  tidepool::event enough{tidepool::reset_mode::manual};
  const auto count = [&](tidepool::periodic_tick& tick) {
    if (++ticks == wanted) {
      tick.stop();
      enough.set();
    }
  };
  tidepool::periodic_timer metronome{2ms, count};
  metronome.start();
  enough.wait();
  metronome.stop_and_drain();
  std::printf("stopped by tick %d\n", wanted);
}
