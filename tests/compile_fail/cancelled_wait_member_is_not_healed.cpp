// Nor has it for a member of a group.
// flags: -DTIDEPOOL_NO_SELF_HEAL=1
// expect: TIDEPOOL_SELF_HEAL=OFF\); call stop_and_drain\(\).*unsafe::try_cancel_pending_without_healing
#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>

void cancel(const tidepool::wait_member& object) {
#ifdef CONTROL
  tidepool::unsafe::try_cancel_pending_without_healing(object);
#else
  object.try_cancel_pending();
#endif
}
