// Only handles of known origin reach a wait.
// expect: no matching function for call to .*wait|no matching constructor for initialization of .*wait
#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>

void make(tidepool::native::handle raw) {
#ifdef CONTROL
  tidepool::wait object(tidepool::unsafe::assume_waitable(raw), [] {});
#else
  tidepool::wait object(raw, [] {});
#endif
  object.arm();
}
