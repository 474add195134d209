// A firing can not be kept for later.
// expect: deleted
#include <memory>
#include <tidepool/tidepool.hpp>

std::unique_ptr<tidepool::timer_firing> kept;
tidepool::timer object([](tidepool::timer_firing& firing) {
#ifdef CONTROL
  firing.instance().disassociate();
#else
  kept = std::make_unique<tidepool::timer_firing>(firing);
#endif
});
