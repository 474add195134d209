#include "heal/pool_repair.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

#include <chrono>
#include <new>

#include "native_environment.hpp"
#include "trace/traced.hpp"

namespace tidepool::heal {

namespace {

using recorder::action;

void CALLBACK repair(PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) noexcept {
  auto& self = *static_cast<pool_repair*>(context);
  self.state.note_started(now());  // first thing: what is cancelled from here on is not repaired by this
  recorder::note<recorder::kind::pool, action::repair_started>(self.pool);
}

}  // namespace

moment now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

pool_repair::pool_repair(PTP_POOL of) : pool(of) {
  TP_CALLBACK_ENVIRON_V3 environment = environment_on(of);
  work_ = TRACED(CreateThreadpoolWork)(&repair, this, &environment);
  if (work_ == nullptr) {
    throw std::bad_alloc();
  }
}

pool_repair::~pool_repair() {
  // A repair that was submitted a second time may still be queued behind the very callback that destroys this.
  TRACED(WaitForThreadpoolWorkCallbacks)(work_, TRUE);
  TRACED(CloseThreadpoolWork)(work_);
}

bool pool_repair::tick(moment at) noexcept {
  const repair_state::step step = state.tick(at);
  if (step == repair_state::step::nothing) {
    return false;
  }
  if (step != repair_state::step::submit) {
    recorder::note<recorder::kind::pool, action::repair_stuck>(pool);
  }
  recorder::note<recorder::kind::pool, action::repair_submitted>(pool);
  TRACED(SubmitThreadpoolWork)(work_);
  return step == repair_state::step::give_up;
}

}  // namespace tidepool::heal

#endif
