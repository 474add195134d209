// Nobody else can make a handle, not even an empty one.
// expect: no matching function for call to .*work_member|no matching constructor for initialization of .*work_member
#include <tidepool/tidepool.hpp>

tidepool::cleanup_group group;
#ifdef CONTROL
tidepool::work_member object = group.create_work([] {});
#else
tidepool::work_member object;
#endif
