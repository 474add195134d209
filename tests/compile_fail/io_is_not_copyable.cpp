// An io is one object.
// expect: deleted
#include <tidepool/io.hpp>
#include <utility>

tidepool::io first(tidepool::endpoint::make_pipe().first);
#ifdef CONTROL
tidepool::io second(std::move(first));
#else
tidepool::io second(first);
#endif
