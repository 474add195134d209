// Raw handles are for tidepool::unsafe.
// expect: waitable_handle
#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>

tidepool::waitable_handle wrap(tidepool::native::handle raw) {
#ifdef CONTROL
  return tidepool::unsafe::assume_waitable(raw);
#else
  return tidepool::waitable_handle(raw);
#endif
}
