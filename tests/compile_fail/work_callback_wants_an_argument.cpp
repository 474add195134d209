// A callback gets nothing, or its instance.
// expect: a callback is called without arguments or with a tidepool::callback_instance&
#include <tidepool/tidepool.hpp>

#ifdef CONTROL
tidepool::work object([](tidepool::callback_instance&) {});
#else
tidepool::work object([](int) {});
#endif
