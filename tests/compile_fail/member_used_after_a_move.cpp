// Handles that have been moved from are not used any more.
// only: clang
// flags: -Wconsumed -Werror=consumed
// expect: invalid invocation of method 'submit' on object 'work' while it is in the 'consumed' state
#include <tidepool/tidepool.hpp>
#include <utility>

void use(tidepool::cleanup_group& group) {
  tidepool::work_member work = group.create_work([] {});
  const tidepool::work_member other = std::move(work);
  other.submit();
#ifdef CONTROL
  work = other;
#endif
  work.submit();
}
