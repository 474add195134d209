// Two pools can not be one: environments share a pool, `pool` objects do not.
// expect: deleted
#include <tidepool/pool.hpp>
#include <utility>

tidepool::pool first;
#ifdef CONTROL
tidepool::pool second(std::move(first));
#else
tidepool::pool second(first);
#endif
