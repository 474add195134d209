// The callback of a timer gets nothing, or its firing.
// expect: the callback of a timer is called without arguments or with a tidepool::timer_firing&
#include <tidepool/tidepool.hpp>

#ifdef CONTROL
tidepool::timer object([](tidepool::timer_firing&) {});
#else
tidepool::timer object([](tidepool::periodic_tick&) {});
#endif
