// A work object is one object.
// expect: deleted
#include <tidepool/work.hpp>
#include <utility>

tidepool::work first([] {});
#ifdef CONTROL
tidepool::work second(std::move(first));
#else
tidepool::work second(first);
#endif
