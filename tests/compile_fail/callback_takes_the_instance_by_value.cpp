// A run can not be copied, so a callback takes it by reference.
// expect: a callback is called without arguments or with a tidepool::callback_instance&
#include <tidepool/tidepool.hpp>

#ifdef CONTROL
tidepool::work object([](tidepool::callback_instance& instance) { instance.disassociate(); });
#else
tidepool::work object([](tidepool::callback_instance instance) { instance.disassociate(); });
#endif
