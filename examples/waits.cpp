// A wait runs its callback when an event is set or a time is over, and holds no thread until then.
// prints: delivery 1
// prints: delivery 2
// prints: delivery 3
// prints: nothing more came
#include <chrono>
#include <cstdio>
#include <tidepool/tidepool.hpp>

using namespace std::chrono_literals;

int main() {
  tidepool::event ready{tidepool::reset_mode::automatic};
  tidepool::event handled{tidepool::reset_mode::automatic};
  int deliveries = 0;

  const auto handle = [&](tidepool::wait_activation& activation) {
    activation.instance().set_event_when_returns(handled);
    if (activation.result() == tidepool::wait_result::timed_out) {
      std::puts("nothing more came");
      return;
    }
    std::printf("delivery %d\n", ++deliveries);
    activation.rearm();  // for the next one: each activation consumes the arming
  };
  tidepool::wait on_ready{ready, handle};
  on_ready.arm();
  for (int i = 0; i != 3; ++i) {
    ready.set();
    handled.wait();
  }

  on_ready.arm(10ms);  // in place of the arming without a time-out
  handled.wait();
}
