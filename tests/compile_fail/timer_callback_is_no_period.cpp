// One-shot and periodic timers are two types: a timer has no period.
// expect: no matching function|cannot convert|no known conversion
#include <tidepool/tidepool.hpp>

#ifdef CONTROL
tidepool::periodic_timer object(std::chrono::milliseconds(5), [] {});
#else
tidepool::timer object(std::chrono::milliseconds(5), [] {});
#endif
