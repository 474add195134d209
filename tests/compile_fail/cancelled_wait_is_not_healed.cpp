// A build of the library that does not repair pools has no cancellation that relies on it.
// flags: -DTIDEPOOL_NO_SELF_HEAL=1
// expect: TIDEPOOL_SELF_HEAL=OFF\); call stop_and_drain\(\).*unsafe::try_cancel_pending_without_healing
#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>

void cancel(tidepool::wait& object) {
#ifdef CONTROL
  tidepool::unsafe::try_cancel_pending_without_healing(object);
#else
  object.try_cancel_pending();
#endif
}
