// The callback of a periodic timer gets nothing, or its tick.
// expect: the callback of a periodic_timer is called without arguments or with a tidepool::periodic_tick&
#include <tidepool/tidepool.hpp>

#ifdef CONTROL
tidepool::periodic_timer object(std::chrono::milliseconds(5), [](tidepool::periodic_tick&) {});
#else
tidepool::periodic_timer object(std::chrono::milliseconds(5), [](tidepool::timer_firing&) {});
#endif
