// A callback gets nothing, or its instance.
// expect: a callback is called without arguments or with a tidepool::callback_instance&
#include <tidepool/tidepool.hpp>

void submit() {
#ifdef CONTROL
  tidepool::submit([](tidepool::callback_instance&) {});
#else
  tidepool::submit([](const char*) {});
#endif
}
