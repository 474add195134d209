// A periodic timer goes on by itself: its ticks can only stop it.
// expect: rearm_after
#include <tidepool/tidepool.hpp>

void tick(tidepool::periodic_tick& mine) {
#ifdef CONTROL
  mine.stop();
#else
  mine.rearm_after(std::chrono::milliseconds(5));
#endif
}
