// The native API without the safe layer: its cleanup group, released in one call.
#include <windows.h>

#include "../harness/main.hpp"

namespace {

class native_group {
 public:
  static constexpr const char* name = "engine";

  native_group() {
    InitializeThreadpoolEnvironment(&environment_);
    SetThreadpoolCallbackCleanupGroup(&environment_, group_, nullptr);
  }
  ~native_group() {
    CloseThreadpoolCleanupGroup(group_);
    DestroyThreadpoolEnvironment(&environment_);
    CloseHandle(never_);
  }
  native_group(const native_group&) = delete;
  native_group& operator=(const native_group&) = delete;

  void create_work() {
    static_cast<void>(CreateThreadpoolWork([](PTP_CALLBACK_INSTANCE, PVOID, PTP_WORK) {}, nullptr, &environment_));
  }
  void create_timer() { start(0); }
  void create_periodic_timer() { start(3'600'000); }
  void create_wait() {
    const PTP_WAIT wait =
        CreateThreadpoolWait([](PTP_CALLBACK_INSTANCE, PVOID, PTP_WAIT, TP_WAIT_RESULT) {}, nullptr, &environment_);
    SetThreadpoolWait(wait, never_, nullptr);
  }
  void close() { CloseThreadpoolCleanupGroupMembers(group_, FALSE, nullptr); }

 private:
  void start(DWORD period) {
    const PTP_TIMER timer =
        CreateThreadpoolTimer([](PTP_CALLBACK_INSTANCE, PVOID, PTP_TIMER) {}, nullptr, &environment_);
    constexpr long long in_an_hour = -36'000'000'000;
    FILETIME due;
    due.dwLowDateTime = static_cast<DWORD>(in_an_hour & 0xFFFF'FFFF);
    due.dwHighDateTime = static_cast<DWORD>((in_an_hour >> 32) & 0xFFFF'FFFF);
    SetThreadpoolTimer(timer, &due, period, 0);
  }

  PTP_CLEANUP_GROUP group_ = CreateThreadpoolCleanupGroup();
  HANDLE never_ = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  TP_CALLBACK_ENVIRON environment_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::none, bench::none, bench::none, bench::none, native_group>(argc, argv);
}
