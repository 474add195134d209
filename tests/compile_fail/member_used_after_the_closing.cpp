// Handles that have been given to the closing are not used any more.
// only: clang
// flags: -Wconsumed -Werror=consumed
// expect: invalid invocation of method 'submit' on object 'work' while it is in the 'consumed' state
// expect: invalid invocation of method 'set_after' on object 'timer' while it is in the 'consumed' state
// expect: invalid invocation of method 'stop' on object 'periodic' while it is in the 'consumed' state
// expect: invalid invocation of method 'arm' on object 'wait' while it is in the 'consumed' state
#include <chrono>
#include <tidepool/tidepool.hpp>

void use(tidepool::cleanup_group& group) {
  const tidepool::work_member work = group.create_work([] {});
  const tidepool::timer_member timer = group.create_timer([] {});
  const tidepool::periodic_timer_member periodic = group.create_periodic_timer(std::chrono::seconds(1), [] {});
  const tidepool::wait_member wait = group.create_wait(tidepool::event(tidepool::reset_mode::manual), [] {});
  work.submit();
#ifndef CONTROL
  group.close_members(false, work, timer, periodic, wait);
#endif
  work.submit();
  timer.set_after(std::chrono::seconds(1));
  periodic.stop();
  wait.arm();
#ifdef CONTROL
  group.close_members(false, work, timer, periodic, wait);
#endif
}
