// Time-outs: never early, and not thrown off by signals that interrupt the sleep.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "tidepool/win32/windows.h"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr DWORD milliseconds = 60;

void ignore_signal(int) {}

/// Runs `wait` while signals, whose handler does not restart system calls, hail on its thread. Returns how long it
/// took.
clock_type::duration duration_under_signals(const std::function<void()>& wait) {
  struct sigaction action{};
  action.sa_handler = &ignore_signal;
  struct sigaction before{};
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> ended{false};
  const pthread_t waiting = pthread_self();
  std::thread hail{[&] {
    while (!ended.load()) {
      pthread_kill(waiting, SIGUSR1);
      std::this_thread::sleep_for(100us);
    }
  }};
  const auto start = clock_type::now();
  wait();
  const auto duration = clock_type::now() - start;
  ended.store(true);
  hail.join();
  sigaction(SIGUSR1, &before, nullptr);
  return duration;
}

TEST(timeouts, of_a_wait_for_one_object_are_not_early) {
  const HANDLE event = CreateEventA(nullptr, TRUE, FALSE, nullptr);
  DWORD result = WAIT_FAILED;
  EXPECT_GE(duration_under_signals([&] { result = WaitForSingleObject(event, milliseconds); }), 60ms);
  EXPECT_EQ(result, WAIT_TIMEOUT);
  CloseHandle(event);
}

TEST(timeouts, of_a_wait_for_several_objects_are_not_early) {
  const HANDLE events[] = {CreateEventA(nullptr, TRUE, TRUE, nullptr), CreateEventA(nullptr, TRUE, FALSE, nullptr)};
  DWORD result = WAIT_FAILED;
  EXPECT_GE(duration_under_signals([&] { result = WaitForMultipleObjects(2, events, TRUE, milliseconds); }), 60ms);
  EXPECT_EQ(result, WAIT_TIMEOUT);
  ResetEvent(events[0]);
  EXPECT_GE(duration_under_signals([&] { result = WaitForMultipleObjects(2, events, FALSE, milliseconds); }), 60ms);
  EXPECT_EQ(result, WAIT_TIMEOUT);
  CloseHandle(events[0]);
  CloseHandle(events[1]);
}

TEST(timeouts, of_a_sleep_are_not_early) {
  EXPECT_GE(duration_under_signals([] { Sleep(milliseconds); }), 60ms);
}

}  // namespace
