// Only what can be called is a callback.
// expect: a callback is called without arguments or with a tidepool::callback_instance&
#include <tidepool/tidepool.hpp>

#ifdef CONTROL
tidepool::work object([] {});
#else
tidepool::work object(42);
#endif
