// What signalling costs: no system call, unless a thread has to be woken.
#include <gtest/gtest.h>

#include <cstddef>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "sanitizers.hpp"
#include "tidepool/win32/windows.h"

namespace {

/// From now on every system call of this thread but exit_group and `allowed` ends the process with SIGSYS.
void forbid_system_calls(std::uint32_t allowed = SYS_exit_group) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{sizeof program / sizeof program[0], program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    _exit(100);
  }
}

/// Runs `f` in a child process. Returns how the child ended, as waitpid() says it.
template <class F>
int in_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

/// The same with a child that may make no system call.
template <class F>
int without_system_calls(F f) {
  return in_child([f] {
    forbid_system_calls();
    return f();
  });
}

TEST(signalling, what_a_wait_is_armed_on_makes_no_system_call_but_to_wake_a_thread) {
  if (safe::under_sanitizer) {
    GTEST_SKIP() << "the sanitizers make system calls of their own";
  }
  const auto signal_many_times = [] {
    static std::atomic<int> seen{0};
    static HANDLE event = CreateEventA(nullptr, FALSE, FALSE, nullptr);
    const PTP_POOL one = CreateThreadpool(nullptr);
    SetThreadpoolThreadMaximum(one, 1);  // or a signal might find the thread busy, and make another
    TP_CALLBACK_ENVIRON where;
    InitializeThreadpoolEnvironment(&where);
    SetThreadpoolCallbackPool(&where, one);
    const PTP_WAIT wait = CreateThreadpoolWait(
        [](PTP_CALLBACK_INSTANCE, PVOID, PTP_WAIT self, TP_WAIT_RESULT) {
          SetThreadpoolWait(self, event, nullptr);
          ++seen;
        },
        nullptr, &where);
    SetThreadpoolWait(wait, event, nullptr);
    SetEvent(event);  // makes the thread
    while (seen != 1) {
    }
    forbid_system_calls(SYS_futex);
    for (int round = 2; round != 1000; ++round) {
      SetEvent(event);
      while (seen != round) {
      }
    }
    _exit(0);
  };
  // In a process that begins anew: the child of a fork whose parent has used a pool may not use one.
  EXPECT_EXIT(signal_many_times(), testing::ExitedWithCode(0), "");
}

TEST(signalling, without_waiters_makes_no_system_call) {
  if (safe::under_sanitizer) {
    GTEST_SKIP() << "the sanitizers make system calls of their own";
  }
  const HANDLE event = CreateEventA(nullptr, FALSE, FALSE, nullptr);
  const HANDLE semaphore = CreateSemaphoreA(nullptr, 0, 1000, nullptr);
  const HANDLE mutex = CreateMutexA(nullptr, TRUE, nullptr);
  CRITICAL_SECTION section;
  InitializeCriticalSection(&section);
  const int status = without_system_calls([&] {
    bool good = true;
    for (int round = 0; round != 100; ++round) {
      good = good && SetEvent(event) && SetEvent(event) && WaitForSingleObject(event, INFINITE) == WAIT_OBJECT_0;
      good = good && WaitForSingleObject(event, 0) == WAIT_TIMEOUT && ResetEvent(event);
      good = good && ReleaseSemaphore(semaphore, 2, nullptr);
      good = good && WaitForSingleObject(semaphore, INFINITE) == WAIT_OBJECT_0;
      good = good && WaitForSingleObject(mutex, INFINITE) == WAIT_OBJECT_0 && ReleaseMutex(mutex);
      const HANDLE both[] = {mutex, semaphore};
      good = good && WaitForMultipleObjects(2, both, TRUE, INFINITE) == WAIT_OBJECT_0 && ReleaseMutex(mutex);
      good = good && WaitForMultipleObjects(2, both, FALSE, INFINITE) == WAIT_OBJECT_0 && ReleaseMutex(mutex);
      EnterCriticalSection(&section);
      LeaveCriticalSection(&section);
    }
    return good;
  });
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  CloseHandle(event);
  CloseHandle(semaphore);
  ReleaseMutex(mutex);
  CloseHandle(mutex);
  DeleteCriticalSection(&section);
}

TEST(signalling, is_what_the_test_above_can_tell_from_a_system_call) {
  const int status = without_system_calls([] {
    std::uint32_t word = 0;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return true;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

}  // namespace
