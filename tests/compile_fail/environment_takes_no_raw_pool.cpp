// Raw handles are for tidepool::unsafe.
// expect: _TP_POOL ?\*
// expect: const (tidepool::)?pool
#include <tidepool/callback_environment.hpp>
#include <tidepool/native.hpp>

void set(tidepool::callback_environment& environment, tidepool::native::pool raw, const tidepool::pool& ours) {
#ifdef CONTROL
  static_cast<void>(raw);
  environment.set_pool(ours);
#else
  static_cast<void>(ours);
  environment.set_pool(raw);
#endif
}
