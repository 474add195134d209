// Five what?
// expect: set_after
#include <tidepool/timer.hpp>

void set(tidepool::timer& timer) {
#ifdef CONTROL
  timer.set_after(std::chrono::milliseconds(5));
#else
  timer.set_after(5);
#endif
}
