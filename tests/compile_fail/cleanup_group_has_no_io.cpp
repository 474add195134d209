// I/O is not a member of a cleanup group, and the message says why.
// expect: tidepool: an io is not a member of a cleanup_group: a request that is outstanding can not be released
#include <tidepool/tidepool.hpp>
#include <utility>

void use(tidepool::cleanup_group& group, tidepool::endpoint&& file) {
#ifdef CONTROL
  static_cast<void>(group);
  tidepool::io object(std::move(file));
#else
  group.create_io(std::move(file));
#endif
}
