// Timers and waits made alike, for what the API promises about both in the same words.
#pragma once

#include "contract/sources.hpp"

namespace contract {

/// A timer whose callback can be asked for.
class timer_source : public timer {
 public:
  using owner = timer;  // its address is the context
  using timer::timer;

  /// One callback, as soon as the pool has a thread for it.
  void fire() { set_now(); }
  /// Returns when the callbacks that were asked for are queued.
  static void let_fired_be_queued() { let_due_times_pass(); }

  /// Arms it, to fire when it is let come due.
  void arm() { set_after(10ms); }
  /// Returns when what was armed has fired, if it was still armed.
  void let_come_due() { let_due_times_pass(); }
};

/// Outlives the wait that is set on it.
struct owner_of_event {
  const handle event_ = automatic_event();
};

/// A wait whose callback can be asked for.
class wait_source : private owner_of_event, public wait {
 public:
  using owner = contract::wait;
  using wait::wait;

  void fire() {
    set(event_);
    EXPECT_TRUE(SetEvent(event_));
  }
  static void let_fired_be_queued() { let_signals_arrive(); }

  void arm() { set(event_); }
  void let_come_due() {
    EXPECT_TRUE(SetEvent(event_));
    let_signals_arrive();
  }
};

using source_kinds = testing::Types<timer_source, wait_source>;

/// The fixture of tests of both kinds, on a pool of one thread.
class source_test : public contract_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};

}  // namespace contract
