// The thread pool knows points in time of the system's clock only.
// expect: set_at
#include <tidepool/timer.hpp>

void set(tidepool::timer& timer) {
#ifdef CONTROL
  timer.set_at(std::chrono::system_clock::now());
#else
  timer.set_at(std::chrono::steady_clock::now());
#endif
}
