// A run can not be kept for later.
// expect: deleted
#include <memory>
#include <tidepool/tidepool.hpp>

std::unique_ptr<tidepool::callback_instance> kept;
tidepool::work object([](tidepool::callback_instance& instance) {
#ifdef CONTROL
  instance.disassociate();
#else
  kept = std::make_unique<tidepool::callback_instance>(instance);
#endif
});
