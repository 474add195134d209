// The thread pool can not wait for a mutex.
// expect: no matching function for call to .*wait|no matching constructor for initialization of .*wait
#include <mutex>
#include <tidepool/tidepool.hpp>

std::mutex mutex;
const tidepool::event ready(tidepool::reset_mode::manual);
#ifdef CONTROL
tidepool::wait object(ready, [] {});
#else
tidepool::wait object(mutex, [] {});
#endif
