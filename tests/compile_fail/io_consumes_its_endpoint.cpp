// Binding an endpoint consumes it: who still has it could close it under the requests.
// expect: deleted
#include <tidepool/io.hpp>
#include <utility>

tidepool::endpoint file = tidepool::endpoint::make_pipe().first;
#ifdef CONTROL
tidepool::io object(std::move(file));
#else
tidepool::io object(file);
#endif
