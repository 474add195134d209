// Two owners would close a handle twice.
// expect: deleted
#include <tidepool/waitable_handle.hpp>
#include <utility>

tidepool::waitable_handle first = tidepool::event(tidepool::reset_mode::manual);
#ifdef CONTROL
tidepool::waitable_handle second(std::move(first));
#else
tidepool::waitable_handle second(first);
#endif
