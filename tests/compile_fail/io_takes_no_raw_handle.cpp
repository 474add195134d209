// Only endpoints that were opened for overlapped use reach an io.
// expect: no matching function for call to .*io|no matching constructor for initialization of .*io
#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>

void make(tidepool::native::handle raw) {
#ifdef CONTROL
  tidepool::io object(tidepool::unsafe::adopt_handle(raw, tidepool::endpoint_kind::file));
#else
  tidepool::io object(raw);
#endif
  object.run_down();
}
