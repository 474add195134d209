// An endpoint is one open file.
// expect: deleted
#include <tidepool/endpoint.hpp>
#include <utility>

tidepool::endpoint first = tidepool::endpoint::make_pipe().first;
#ifdef CONTROL
tidepool::endpoint second(std::move(first));
#else
tidepool::endpoint second(first);
#endif
