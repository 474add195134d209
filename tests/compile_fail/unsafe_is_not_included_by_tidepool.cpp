// A file that deals in raw handles says so by including tidepool/unsafe.hpp.
// expect: unsafe
#include <tidepool/tidepool.hpp>
#ifdef CONTROL
#include <tidepool/unsafe.hpp>
#endif

void set(tidepool::callback_environment& environment, tidepool::native::pool raw) {
  tidepool::unsafe::set_pool(environment, raw);
}
