// Who waits: threads in an idle process, descriptors, and what happens when everybody is busy.
#include "engine/poller.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <tidepool/win32/tpextensions.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "contract/sources.hpp"
#include "contract/threads.hpp"
#include "sanitizers.hpp"

namespace {

using namespace contract;
using contract::wait;  // not the system call

/// An owned descriptor.
class descriptor {
 public:
  explicit descriptor(int value) : value_{value} { EXPECT_GE(value, 0); }
  descriptor(descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() { close(); }
  operator int() const { return value_; }
  void close() {
    if (value_ >= 0) {
      ::close(std::exchange(value_, -1));
    }
  }

 private:
  int value_;
};

class waitable {
 public:
  explicit waitable(int of) : handle_{TidepoolCreateDescriptorObject(of)} { EXPECT_NE(handle_, nullptr); }
  waitable(waitable&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  waitable& operator=(waitable&&) = delete;
  ~waitable() {
    if (handle_ != nullptr) {
      CloseHandle(handle_);
    }
  }
  operator HANDLE() const { return handle_; }

 private:
  HANDLE handle_;
};

void signal(int counter) {
  const std::uint64_t one = 1;
  ASSERT_EQ(write(counter, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

std::uint64_t take(int counter) {
  std::uint64_t value = 0;
  return read(counter, &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? value : 0;
}

descriptor counter() { return descriptor{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)}; }

class descriptor_wait : public contract_test {};

TEST_F(descriptor_wait, is_activated_when_the_descriptor_is_readable) {
  const descriptor event = counter();
  const waitable object{event};
  gate ran;
  wait waiting{[&](DWORD result) {
    EXPECT_EQ(result, DWORD{WAIT_OBJECT_0});
    EXPECT_EQ(take(event), 1u);
    ran.open();
  }};
  waiting.set(object);
  signal(event);
  EXPECT_TRUE(ran.pass());
}

TEST_F(descriptor_wait, is_activated_at_once_when_the_descriptor_is_readable_already) {
  const descriptor event = counter();
  const waitable object{event};
  signal(event);
  for (int round = 0; round != 20; ++round) {
    gate ran;
    wait waiting{[&](DWORD) { ran.open(); }};
    waiting.set(object);
    EXPECT_TRUE(ran.pass());  // nothing has been consumed
  }
}

TEST_F(descriptor_wait, is_activated_once_per_arming) {
  const pool one{1};
  environment where{one};
  const descriptor event = counter();
  const waitable object{event};
  std::atomic<int> activations{0};
  gate ran;
  wait waiting{[&](DWORD) {
                 ++activations;
                 ran.open();
               },
               where};
  signal(event);
  waiting.set(object);
  EXPECT_TRUE(ran.pass());
  signal(event);
  let_due_times_pass();
  drain_pool_of_one(where);
  EXPECT_EQ(activations, 1);
}

TEST_F(descriptor_wait, goes_through_many_rounds_with_rearming_callbacks) {
  constexpr int rounds = 2000;
  constexpr int number = 8;
  struct cycle {
    descriptor event = counter();
    waitable object{event};
    std::atomic<int> rounds{0};
    std::unique_ptr<wait> waiting;
  };
  std::array<cycle, number> cycles;
  tally finished;
  for (cycle& each : cycles) {
    each.waiting = std::make_unique<wait>([&finished, &each](DWORD) {
      EXPECT_EQ(take(each.event), 1u);
      if (++each.rounds == rounds) {
        finished.add();
        return;
      }
      each.waiting->set(each.object);
      signal(each.event);
    });
    each.waiting->set(each.object);
    signal(each.event);
  }
  EXPECT_TRUE(finished.reaches(number));
}

TEST_F(descriptor_wait, times_out_when_nothing_comes_and_not_early) {
  const descriptor event = counter();
  const waitable object{event};
  gate ran;
  const auto began = monotonic_time();
  wait waiting{[&](DWORD result) {
    EXPECT_EQ(result, DWORD{WAIT_TIMEOUT});
    EXPECT_GE(monotonic_time() - began, 5ms);
    ran.open();
  }};
  waiting.set(object, relative(5ms));
  EXPECT_TRUE(ran.pass());
}

TEST_F(descriptor_wait, knows_the_end_of_a_stream) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const descriptor reading{ends[0]};
  descriptor writing{ends[1]};
  const waitable object{reading};
  gate ran;
  wait waiting{[&](DWORD) {
    char byte;
    EXPECT_EQ(read(reading, &byte, 1), 0);
    ran.open();
  }};
  waiting.set(object);
  writing.close();
  EXPECT_TRUE(ran.pass());
}

TEST_F(descriptor_wait, takes_every_kind_of_descriptor_that_can_be_polled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const descriptor socket{ends[0]};
  const descriptor peer{ends[1]};
  const descriptor timer{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
  const descriptor changes{inotify_init1(IN_CLOEXEC)};
  const auto watched = std::filesystem::temp_directory_path() / ("tidepool-poller-" + std::to_string(getpid()));
  std::filesystem::create_directory(watched);
  ASSERT_GE(inotify_add_watch(changes, watched.c_str(), IN_CREATE), 0);
  tally ran;
  std::vector<waitable> objects;
  std::vector<std::unique_ptr<wait>> waits;
  for (const int each : {int{socket}, int{timer}, int{changes}}) {
    objects.emplace_back(each);
    waits.push_back(std::make_unique<wait>([&](DWORD) { ran.add(); }));
    waits.back()->set(objects.back());
  }
  ASSERT_EQ(write(peer, "x", 1), 1);
  const itimerspec soon{{}, {0, 1}};
  ASSERT_EQ(timerfd_settime(timer, 0, &soon, nullptr), 0);
  std::ofstream{watched / "new"};
  EXPECT_TRUE(ran.reaches(3));
  std::filesystem::remove_all(watched);
}

TEST_F(descriptor_wait, refuses_what_can_not_be_polled) {
  const auto refused = [](int what, DWORD error) {
    SetLastError(ERROR_SUCCESS);
    EXPECT_EQ(TidepoolCreateDescriptorObject(what), nullptr);
    EXPECT_EQ(GetLastError(), error);
  };
  const descriptor file{open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
  const descriptor folder{open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  refused(file, ERROR_NOT_SUPPORTED);
  refused(folder, ERROR_NOT_SUPPORTED);
  // By now the poller has its own descriptors, and takes no number that is closed here.
  int closed = -1;
  {
    const descriptor brief = counter();
    closed = brief;
  }
  refused(closed, ERROR_INVALID_HANDLE);
  refused(-1, ERROR_INVALID_HANDLE);
}

TEST_F(descriptor_wait, is_not_disturbed_by_a_close_of_the_descriptor_and_disturbs_no_other) {
  const descriptor other_event = counter();
  const waitable other{other_event};
  gate other_ran;
  wait other_wait{[&](DWORD) { other_ran.open(); }};
  other_wait.set(other);

  descriptor event = counter();
  const descriptor same{fcntl(event, F_DUPFD_CLOEXEC, 0)};
  const int number = event;
  {
    const waitable object{event};
    gate ran;
    wait waiting{[&](DWORD) { ran.open(); }};
    waiting.set(object);
    event.close();
    ASSERT_EQ(dup2(other_event, number), number);  // the number means something else now
    signal(same);
    EXPECT_TRUE(ran.pass());
  }
  const descriptor in_its_place{number};
  EXPECT_GE(fcntl(in_its_place, F_GETFD), 0) << "closed by somebody else";
  EXPECT_FALSE(other_ran.is_open());
  signal(other_event);
  EXPECT_TRUE(other_ran.pass());
}

TEST_F(descriptor_wait, can_be_awaited_by_a_thread) {
  const descriptor event = counter();
  const waitable object{event};
  EXPECT_EQ(WaitForSingleObject(object, 0), DWORD{WAIT_TIMEOUT});
  EXPECT_EQ(WaitForSingleObject(object, 2), DWORD{WAIT_TIMEOUT});
  signal(event);
  EXPECT_EQ(WaitForSingleObject(object, 0), DWORD{WAIT_OBJECT_0});
  EXPECT_EQ(WaitForSingleObject(object, INFINITE), DWORD{WAIT_OBJECT_0});
  EXPECT_EQ(take(event), 1u);
  std::thread signaller{[&] { signal(event); }};
  EXPECT_EQ(WaitForSingleObject(object, INFINITE), DWORD{WAIT_OBJECT_0});
  signaller.join();
}

TEST_F(descriptor_wait, can_be_one_of_ten_thousand) {
  constexpr unsigned number = 10'000;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = limit.rlim_max = std::max<rlim_t>(limit.rlim_max, number + 200);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    GTEST_SKIP() << "the limit of open files is " << before.rlim_max << " and may not be raised";
  }
  {
    tally ran;
    std::vector<waitable> objects;
    std::vector<std::unique_ptr<wait>> waits;
    for (unsigned i = 0; i != number; ++i) {
      // Goes off when all are armed, most likely; closed here, so that only the object's own descriptor is left.
      const descriptor alarm{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
      const itimerspec soon{{}, {0, 300'000'000}};
      ASSERT_EQ(timerfd_settime(alarm, 0, &soon, nullptr), 0);
      objects.emplace_back(alarm);
      waits.push_back(std::make_unique<wait>([&](DWORD) { ran.add(); }));
      waits.back()->set(objects.back());
    }
    EXPECT_TRUE(ran.reaches(number));
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

class armed_in_numbers : public contract_test {};

TEST_F(armed_in_numbers, a_hundred_thousand_waits_on_events) {
  constexpr unsigned number = 100'000;
  tally ran;
  const HANDLE event = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  std::vector<PTP_WAIT> waits;
  for (unsigned i = 0; i != number; ++i) {
    waits.push_back(CreateThreadpoolWait(
        [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WAIT, TP_WAIT_RESULT) { static_cast<tally*>(context)->add(); },
        &ran, nullptr));
    ASSERT_NE(waits.back(), nullptr);
    SetThreadpoolWait(waits.back(), event, nullptr);
  }
  SetEvent(event);
  EXPECT_TRUE(ran.reaches(number));
  for (const PTP_WAIT each : waits) {
    WaitForThreadpoolWaitCallbacks(each, FALSE);
    CloseThreadpoolWait(each);
  }
  CloseHandle(event);
}

TEST_F(armed_in_numbers, a_million_timers) {
  constexpr unsigned number = safe::under_sanitizer ? 100'000 : 1'000'000;
  tally ran;
  std::vector<PTP_TIMER> timers;
  timers.reserve(number);
  FILETIME due = relative(100ms);
  for (unsigned i = 0; i != number; ++i) {
    timers.push_back(CreateThreadpoolTimer(
        [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_TIMER) { static_cast<tally*>(context)->add(); }, &ran, nullptr));
    ASSERT_NE(timers.back(), nullptr);
    SetThreadpoolTimer(timers.back(), &due, 0, 0);
  }
  EXPECT_TRUE(ran.reaches(number));
  for (const PTP_TIMER each : timers) {
    WaitForThreadpoolTimerCallbacks(each, FALSE);
    CloseThreadpoolTimer(each);
  }
}

class poller_seat : public contract_test {
 protected:
  /// Lets a thread of the pool take the seat for a timer that is armed. It looks there once it has run something, even
  /// while the guard is awake from before and looks after the timer itself.
  static bool seat_a_thread(environment& where) {
    gate ran;
    work object{[&] { ran.open(); }, where};
    object.submit();
    return ran.pass() && eventually([] { return !tidepool::engine::poller::instance().wants_sitter(); });
  }
};

TEST_F(poller_seat, timers_and_descriptors_are_served_while_every_thread_of_their_pool_is_held) {
  // On pools of their own, so that it is not the held ones that serve them.
  const pool held{2};
  environment where_held{held};
  const pool other;
  environment where_other{other};
  timer before{[] {}, where_held};
  before.set_after(far_away);
  occupier busy{where_held, 2};
  ASSERT_TRUE(busy.held());
  for (int round = 0; round != 5; ++round) {
    gate timer_ran;
    timer object{[&] { timer_ran.open(); }, where_other};
    object.set_after(1ms);
    EXPECT_TRUE(timer_ran.pass());
    const descriptor event = counter();
    const waitable waited{event};
    gate wait_ran;
    wait waiting{[&](DWORD) { wait_ran.open(); }, where_other};
    waiting.set(waited);
    signal(event);
    EXPECT_TRUE(wait_ran.pass());
  }
}

TEST_F(poller_seat, a_callback_that_blocks_right_after_it_rose_from_the_seat_stops_no_timer) {
  const pool one{1};
  environment where{one};
  const pool other{1};
  environment where_other{other};
  for (int round = 0; round != 20; ++round) {
    gate second_ran;
    timer second{[&] { second_ran.open(); }, where_other};
    timer first{[&] {
                  second.set_after(1ms);
                  EXPECT_TRUE(second_ran.pass());
                },
                where};
    first.set_after(1ms);
    EXPECT_TRUE(second_ran.pass());
  }
}

TEST_F(poller_seat, timers_go_on_while_the_only_thread_that_sat_there_is_blocked) {
  // Both timers are armed before the first fires, so that no arming makes up for what leaving the seat forgets; and the
  // second's pool has no thread before.
  const pool one{1};
  environment where{one};
  for (int round = 0; round != 5; ++round) {
    const pool other{1};
    environment where_other{other};
    timer armed{[] {}, where};
    armed.set_after(far_away);
    ASSERT_TRUE(seat_a_thread(where));
    gate second_ran;
    gate first_began;
    timer second{[&] { second_ran.open(); }, where_other};
    timer first{[&] {
                  first_began.open();
                  EXPECT_TRUE(second_ran.pass());
                },
                where};
    first.set_after(20ms);
    second.set_after(60ms);
    EXPECT_TRUE(first_began.pass());
    EXPECT_TRUE(second_ran.pass());
  }
}

TEST_F(poller_seat, whoever_sits_there_can_be_called_to_work) {
  const pool one{1};
  environment where{one};
  timer armed{[] {}, where};
  armed.set_after(far_away);
  for (int round = 0; round != 100; ++round) {
    ASSERT_TRUE(seat_a_thread(where));
  }
}

TEST_F(poller_seat, is_where_those_sleep_who_watch_over_busy_threads) {
  // More callbacks that compute than there are processors: all through, some are queued, and one thread watches over them. It
  // lets in one more now and then, so that the sum of them is the end of the test if the seat stays empty.
  const pool busy;
  environment where{busy};
  std::atomic<bool> over = false;
  std::atomic<unsigned> begun = 0;
  TIDEPOOL_POOL_STATISTICS statistics{};
  TidepoolQueryPoolStatistics(busy.get(), &statistics);
  const unsigned number = statistics.Concurrency + 10;
  std::vector<std::unique_ptr<work>> computing;
  for (unsigned i = 0; i != number; ++i) {
    computing.push_back(std::make_unique<work>(
        [&] {
          ++begun;
          while (!over) {
          }
        },
        where));
    computing.back()->submit();
  }
  EXPECT_TRUE(eventually([&] { return begun >= statistics.Concurrency; }));
  timer armed{[] {}, where};
  armed.set_after(far_away);
  bool taken = false;
  while (!taken && begun != number) {
    taken = !tidepool::engine::poller::instance().wants_sitter();
  }
  EXPECT_TRUE(taken);
  over = true;
}

TEST_F(poller_seat, a_pool_can_be_closed_while_its_thread_sits_there) {
  for (int round = 0; round != 50; ++round) {
    pool brief{1};
    environment where{brief};
    gate ran;
    {
      timer object{[&] { ran.open(); }, where};
      object.set_now();
      EXPECT_TRUE(ran.pass());
      object.set_after(far_away);
    }
    brief.close();
  }
  gate ran;
  timer object{[&] { ran.open(); }};
  object.set_after(1ms);
  EXPECT_TRUE(ran.pass());
}

TEST_F(poller_seat, timers_fire_for_all_pools_while_these_come_and_go) {
  constexpr int rounds = 100;
  tally ran;
  for (int round = 0; round != rounds; ++round) {
    const pool brief{2};
    hasten_retirement(brief.get());
    environment where{brief};
    timer first{[&] { ran.add(); }, where};
    timer second{[&] { ran.add(); }};
    first.set_after(std::chrono::microseconds{200});
    second.set_after(std::chrono::microseconds{100});
    ASSERT_TRUE(ran.reaches(2 * (static_cast<unsigned>(round) + 1)));
  }
}

}  // namespace
