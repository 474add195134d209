// Raw handles are for tidepool::unsafe.
// expect: event
#include <tidepool/event.hpp>
#include <tidepool/native.hpp>

tidepool::event wrap([[maybe_unused]] tidepool::native::handle raw) {
#ifdef CONTROL
  return tidepool::event(tidepool::reset_mode::manual);
#else
  return tidepool::event(raw);
#endif
}
