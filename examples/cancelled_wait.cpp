// What a wait was signalled for can be dropped, and what that may do to a pool on Windows is repaired.
// prints: the other ran
#include <cstdio>
#include <tidepool/tidepool.hpp>

int main() {
  const tidepool::event signalled{tidepool::reset_mode::manual, true};
  const tidepool::event done{tidepool::reset_mode::manual};
  tidepool::wait unwanted{signalled, [] {}};
  tidepool::wait other{signalled, [&] {
                         std::puts("the other ran");
                         done.set();
                       }};

  unwanted.arm();
  unwanted.disarm();
  unwanted.try_cancel_pending();  // an activation that was queued meanwhile, and has not begun, is dropped

  other.arm();
  done.wait();  // for ever on a pool that has stalled, had it not been repaired
  other.stop_and_drain();
  unwanted.stop_and_drain();
}
