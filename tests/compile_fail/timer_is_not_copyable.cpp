// A timer is one object.
// expect: deleted
#include <tidepool/timer.hpp>
#include <utility>

tidepool::timer first([] {});
#ifdef CONTROL
tidepool::timer second(std::move(first));
#else
tidepool::timer second(first);
#endif
