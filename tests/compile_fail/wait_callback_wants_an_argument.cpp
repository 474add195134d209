// The callback of a wait gets nothing, or its activation.
// expect: the callback of a wait is called without arguments or with a tidepool::wait_activation&
#include <tidepool/tidepool.hpp>

const tidepool::event ready(tidepool::reset_mode::manual);
#ifdef CONTROL
tidepool::wait object(ready, [](tidepool::wait_activation&) {});
#else
tidepool::wait object(ready, [](tidepool::wait_activation) {});
#endif
