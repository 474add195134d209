// Only a callback has a run.
// expect: callback_instance
// expect: private
#include <tidepool/tidepool.hpp>

void make(tidepool::detail::callback_frame& frame) {
#ifdef CONTROL
  static_cast<void>(frame);
#else
  tidepool::callback_instance instance(frame);
  instance.disassociate();
#endif
}
