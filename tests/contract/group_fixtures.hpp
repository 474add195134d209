// Cleanup groups and members that account for what happens to them.
#pragma once

#include <atomic>

#include "contract/fixtures.hpp"
#include "contract/threads.hpp"

namespace contract {

/// What a member's callbacks and the group's cancel callback have done with one context.
struct account {
  tally runs;
  std::atomic<int> cancels{0};
  std::atomic<PVOID> cleanup_context{nullptr};
  std::atomic<thread_number> cancelled_on{0};

  static void CALLBACK run(PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) {
    static_cast<account*>(context)->runs.add();
  }

  static void CALLBACK run_one_off(PTP_CALLBACK_INSTANCE, PVOID context) { static_cast<account*>(context)->runs.add(); }

  static void CALLBACK cancel(PVOID object_context, PVOID cleanup_context) {
    auto& mine = *static_cast<account*>(object_context);
    ++mine.cancels;
    mine.cleanup_context = cleanup_context;
    mine.cancelled_on = this_thread();
  }
};

/// An owned cleanup group. Its destructor releases the members that are left.
class cleanup_group {
 public:
  cleanup_group() { EXPECT_NE(group_, nullptr); }

  ~cleanup_group() {
    close_members(FALSE);
    CloseThreadpoolCleanupGroup(group_);
  }

  cleanup_group(const cleanup_group&) = delete;
  cleanup_group& operator=(const cleanup_group&) = delete;

  [[nodiscard]] PTP_CLEANUP_GROUP get() const { return group_; }

  void close_members(BOOL cancel_pending, PVOID cleanup_context = nullptr) {
    CloseThreadpoolCleanupGroupMembers(group_, cancel_pending, cleanup_context);
  }

 private:
  PTP_CLEANUP_GROUP group_ = CreateThreadpoolCleanupGroup();
};

class group_test : public contract_test {
 protected:
  PTP_WORK member(account& its) {
    const PTP_WORK made = CreateThreadpoolWork(&account::run, &its, members_);
    EXPECT_NE(made, nullptr);
    return made;
  }

  PTP_WORK submitted_member(account& its, int times = 1) {
    const PTP_WORK made = member(its);
    for (; times != 0; --times) {
      SubmitThreadpoolWork(made);
    }
    return made;
  }

  BOOL one_off_member(account& its) { return TrySubmitThreadpoolCallback(&account::run_one_off, &its, members_); }

  const pool one_{1};
  environment where_{one_};
  cleanup_group group_;
  /// Members of the group on the pool of one, with account::cancel as cancel callback.
  environment members_{environment{one_}.group(group_.get(), &account::cancel)};
};

}  // namespace contract
