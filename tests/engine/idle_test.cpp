// What an idle process costs: threads.
#include <tidepool/win32/tpextensions.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "contract/sources.hpp"
#include "contract/threads.hpp"

namespace {

using namespace contract;
using contract::wait;  // not the system call

/// The engine's threads in this process, by name.
std::size_t engine_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{task.path() / "comm"};  // gone by now, perhaps
    std::string name;
    count += std::getline(file, name) && name.starts_with("tidepool") ? 1 : 0;
  }
  return count;
}

bool become(std::size_t threads) {
  return eventually([threads] { return engine_threads() == threads; });
}

class idle_process : public contract_test {
 protected:
  idle_process() { TidepoolSetPoolIdleTimeout(nullptr, 10); }
  ~idle_process() override { TidepoolSetPoolIdleTimeout(nullptr, 5000); }
};

TEST_F(idle_process, has_one_thread_for_a_timer_far_away_and_waits_on_events_in_fifty_pools) {
  constexpr unsigned number = 50;
  struct place {
    pool where;
    environment in{where};
    HANDLE event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    tally ran;
    std::unique_ptr<wait> waiting;
  };
  timer armed{[] {}};
  armed.set_after(far_away);
  std::vector<std::unique_ptr<place>> places;
  for (unsigned i = 0; i != number; ++i) {
    places.push_back(std::make_unique<place>());
    place& its = *places.back();
    hasten_retirement(its.where.get());
    its.waiting = std::make_unique<wait>(
        [&its](DWORD) {
          its.waiting->set(its.event);
          its.ran.add();
        },
        its.in);
    its.waiting->set(its.event);
  }
  for (unsigned round = 1; round != 3; ++round) {
    for (const auto& each : places) {
      SetEvent(each->event);
    }
    for (const auto& each : places) {
      ASSERT_TRUE(each->ran.reaches(round));
    }
    EXPECT_TRUE(become(1)) << engine_threads();
  }
  armed.unset();
  EXPECT_TRUE(become(0)) << engine_threads();
  // All asleep, none lost.
  for (const auto& each : places) {
    SetEvent(each->event);
    EXPECT_TRUE(each->ran.reaches(3));
  }
  for (const auto& each : places) {
    each->waiting.reset();
    CloseHandle(each->event);
  }
}

TEST_F(idle_process, has_a_thread_again_for_the_first_timer) {
  ASSERT_TRUE(become(0)) << engine_threads();  // so nobody comes by and finds the timer
  gate ran;
  timer first{[&] { ran.open(); }};
  first.set_after(1ms);
  EXPECT_TRUE(ran.pass());
}

TEST_F(idle_process, has_no_thread_once_nothing_is_armed_whoever_disarms_it) {
  timer armed{[] {}};
  armed.set_after(far_away);
  EXPECT_TRUE(become(1)) << engine_threads();
  // Past the idle time-out: whoever sits there does not look by itself any more. Should it not be past, the test holds
  // all the same.
  std::this_thread::sleep_for(50ms);
  for (int i = 0; i != 10; ++i) {
    armed.unset();
    armed.set_after(far_away);
  }
  EXPECT_TRUE(become(1)) << engine_threads();
  std::this_thread::sleep_for(50ms);
  armed.unset();
  EXPECT_TRUE(become(0)) << engine_threads();
  gate ran;
  timer again{[&] { ran.open(); }};
  again.set_after(1ms);
  EXPECT_TRUE(ran.pass());
  EXPECT_TRUE(become(0)) << engine_threads();
}

}  // namespace
