#include "stall_trial.hpp"

#include <windows.h>

#include <atomic>
#include <stdexcept>

#include "tidepool/event.hpp"
#include "tidepool/pool.hpp"
#include "tidepool/submit.hpp"
#include "tidepool/unsafe.hpp"
#include "tidepool/wait.hpp"

namespace tool {
namespace {

using monotonic = std::chrono::steady_clock;

// Whether the queued callback ran. Release where it does, acquire where it is read: nothing else is published with it, but
// it is to be seen by who has seen a later callback.
std::atomic<bool> victim_ran{false};

void note_victim() { victim_ran.store(true, std::memory_order_release); }

void CALLBACK note_native_victim(PTP_CALLBACK_INSTANCE, PVOID, PTP_WAIT, TP_WAIT_RESULT) { note_victim(); }

std::int64_t microseconds_between(monotonic::time_point from, monotonic::time_point to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

/// Not a sleep, which would give the processor away, and with it the moment.
void spin(std::chrono::microseconds span) {
  const auto end = monotonic::now() + span;
  while (monotonic::now() < end) {
  }
}

/// A callback on the default pool that notes when it ran.
class sign_of_life {
 public:
  void run() {
    ran_at_ = monotonic::now();
    ran_.set();
  }
  bool comes_within(monotonic::duration time) const { return ran_.wait_for(time); }
  monotonic::time_point ran_at() const { return ran_at_; }  // once it has come

 private:
  tidepool::event ran_{tidepool::reset_mode::manual};
  monotonic::time_point ran_at_;
};

/// That of a wait.
class packet : public sign_of_life {
 public:
  void arrive() {
    wait_.arm();
    arrived_.set();
  }

 private:
  tidepool::event arrived_{tidepool::reset_mode::manual};
  tidepool::wait wait_{arrived_, [this] { run(); }};
};

void remove_by_close(std::chrono::microseconds in_queue) {
  auto& arrived = *new tidepool::event{tidepool::reset_mode::manual};  // is not to be closed under the native wait
  const PTP_WAIT wait = CreateThreadpoolWait(note_native_victim, nullptr, nullptr);
  if (wait == nullptr) throw std::runtime_error("a wait cannot be made");
  SetThreadpoolWait(wait, tidepool::unsafe::native_handle(arrived), nullptr);
  arrived.set();
  SetThreadpoolWait(wait, nullptr, nullptr);
  spin(in_queue);
  CloseThreadpoolWait(wait);
}

void cancel(tidepool::wait& wait, [[maybe_unused]] bool heal) {
#ifndef TIDEPOOL_NO_SELF_HEAL
  if (heal) return wait.try_cancel_pending();
#endif
  tidepool::unsafe::try_cancel_pending_without_healing(wait);
}

/// By tidepool's own objects.
void remove_or_drain(const stall_arm& arm, bool heal) {
  const tidepool::event arrived{tidepool::reset_mode::manual};
  tidepool::wait wait{arrived, note_victim};
  wait.arm();
  arrived.set();
  if (arm.by == stall_arm::removal::cancel) {
    wait.disarm();
    cancel(wait, heal);
  }
  wait.stop_and_drain();
}

stall_fingerprint examine(const sign_of_life& overdue, std::chrono::milliseconds deadline) {
  stall_fingerprint found;
  found.stalled = facts_of(tidepool::snapshot::take());
  auto& another = *new packet;
  another.arrive();
  found.packet_ran = another.comes_within(deadline);
  found.after_packet = facts_of(tidepool::snapshot::take());
  auto& work = *new sign_of_life;
  const auto submitted = monotonic::now();
  tidepool::submit([&work] { work.run(); });
  found.work_ran = work.comes_within(deadline);
  found.all_ran = found.work_ran && overdue.comes_within(deadline) && another.comes_within(deadline);
  found.freed_us = microseconds_between(submitted, monotonic::now());
  return found;
}

}  // namespace

stall_report carry_out(const stall_trial& trial) {
  if (trial.fault) inject_stalls(*trial.fault);
  if (trial.arm.warm) tidepool::prewarm_default_pool();
  auto& later = *new packet;
  spin(trial.arm.before);
  if (trial.arm.by == stall_arm::removal::close) {
    remove_by_close(trial.arm.in_queue);
  } else {
    remove_or_drain(trial.arm, trial.heal);
  }
  const auto removed_at = monotonic::now();
  later.arrive();

  stall_report report;
  if (later.comes_within(trial.deadline)) {
    report.ran_after_us = microseconds_between(removed_at, later.ran_at());
  } else {
    report.fingerprint = examine(later, trial.deadline);
  }
  report.removed = !victim_ran.load(std::memory_order_acquire);
  return report;
}

}  // namespace tool
