// There is one owner of the members.
// expect: deleted function|deleted constructor
#include <tidepool/tidepool.hpp>
#include <utility>

tidepool::cleanup_group group;
#ifdef CONTROL
tidepool::cleanup_group other(std::move(group));
#else
tidepool::cleanup_group other(group);
#endif
