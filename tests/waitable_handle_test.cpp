// Where the handle of a wait comes from, and who closes it.
#include <chrono>
#include <optional>

#include "contract/win32.hpp"
#include "timers.hpp"
#ifndef _WIN32
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#endif

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::reset_mode;
using tidepool::wait_activation;
using tidepool::waitable_handle;
namespace unsafe = tidepool::unsafe;

static_assert(!std::is_copy_constructible_v<waitable_handle>);
static_assert(std::is_nothrow_move_constructible_v<waitable_handle>);
static_assert(std::is_nothrow_move_assignable_v<waitable_handle>);
static_assert(std::is_convertible_v<const event&, waitable_handle>);
static_assert(!std::is_constructible_v<waitable_handle, void*>);

const std::error_code invalid_handle(6, tidepool::win32_category());

bool is_open(HANDLE handle) {
  HANDLE copy = nullptr;
  if (!DuplicateHandle(GetCurrentProcess(), handle, GetCurrentProcess(), &copy, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
    return false;
  }
  CloseHandle(copy);
  return true;
}

/// On Windows the next object may have the number of a handle that has been closed, so nothing can be told there.
bool is_closed([[maybe_unused]] HANDLE handle) {
#ifdef _WIN32
  return true;
#else
  return !is_open(handle);
#endif
}

HANDLE new_event() { return CreateEventW(nullptr, TRUE, FALSE, nullptr); }

/// What is no open handle; on Windows a number that no handle will have.
HANDLE closed_handle() {
#ifdef _WIN32
  return reinterpret_cast<HANDLE>(std::uintptr_t{0x7FFF'FFF0});
#else
  const HANDLE closed = new_event();
  CloseHandle(closed);
  return closed;
#endif
}

/// A close routine that counts, and says when.
std::atomic<int> closes = 0;
std::atomic<int> running_when_closed = -1;
std::atomic<int> states_when_closed = -1;
std::atomic<int> running = 0;
std::atomic<int> states = 0;

BOOL CALLBACK close_and_count(HANDLE handle) {
  ++closes;
  running_when_closed = running.load();
  states_when_closed = states.load();
  return CloseHandle(handle);
}

class waitable_handles : public safe_test {
 protected:
  waitable_handles() {
    closes = 0;
    running_when_closed = -1;
    states_when_closed = -1;
    running = 0;
    states = 0;
  }

  static bool is_set(const event& which) { return which.wait_for(0s); }
};

// ---- events --------------------------------------------------------------------------------------------

TEST_F(waitable_handles, of_events_are_the_event_itself) {
  const event original(reset_mode::manual);
  const waitable_handle handle = original;
  EXPECT_EQ(unsafe::native_handle(handle), unsafe::native_handle(original));
}

TEST_F(waitable_handles, of_events_keep_the_event_and_do_not_close_it) {
  std::optional<event> original(std::in_place, reset_mode::manual);
  const HANDLE native = unsafe::native_handle(*original);
  {
    std::optional<waitable_handle> handle(*original);
    handle.reset();
    EXPECT_TRUE(is_open(native));
    original->set();
    EXPECT_TRUE(is_set(*original));
    handle.emplace(*original);
    original.reset();
    EXPECT_TRUE(is_open(native));
  }
  EXPECT_TRUE(is_closed(native));
}

// ---- handles that somebody vouches for -----------------------------------------------------------------

TEST_F(waitable_handles, that_are_no_open_handles_are_refused) {
  for (const HANDLE bad : {HANDLE{}, INVALID_HANDLE_VALUE, closed_handle()}) {
    EXPECT_SYSTEM_ERROR(static_cast<void>(unsafe::assume_waitable(bad)), invalid_handle);
    EXPECT_SYSTEM_ERROR(static_cast<void>(unsafe::assume_waitable_with(bad, &close_and_count)), invalid_handle);
  }
  EXPECT_EQ(closes, 0);
}

TEST_F(waitable_handles, without_a_close_routine_where_one_is_due_are_refused_and_not_closed) {
  const HANDLE handle = new_event();
  EXPECT_SYSTEM_ERROR(static_cast<void>(unsafe::assume_waitable_with(handle, nullptr)), std::errc::invalid_argument);
  EXPECT_TRUE(is_open(handle));
  CloseHandle(handle);
}

TEST_F(waitable_handles, are_closed_by_whoever_has_them_last) {
  const HANDLE native = new_event();
  {
    waitable_handle first = unsafe::assume_waitable(native);
    EXPECT_EQ(unsafe::native_handle(first), native);
    waitable_handle second = std::move(first);
    EXPECT_EQ(unsafe::native_handle(first), nullptr);
    EXPECT_EQ(unsafe::native_handle(second), native);
    EXPECT_TRUE(is_open(native));
  }
  EXPECT_TRUE(is_closed(native));
}

TEST_F(waitable_handles, are_closed_when_others_are_assigned) {
  const HANDLE one = new_event();
  const HANDLE two = new_event();
  waitable_handle handle = unsafe::assume_waitable_with(one, &close_and_count);
  waitable_handle& itself = handle;
  handle = std::move(itself);
  EXPECT_TRUE(is_open(one));
  handle = unsafe::assume_waitable(two);
  EXPECT_TRUE(is_closed(one));
  EXPECT_EQ(closes, 1);
  handle = event(reset_mode::manual);
  EXPECT_TRUE(is_closed(two));
  EXPECT_EQ(closes, 1);
}

TEST_F(waitable_handles, can_be_taken_out_of_the_wrapper) {
  const HANDLE native = new_event();
  std::optional<waitable_handle> handle(unsafe::assume_waitable(native));
  const std::optional<HANDLE> out = unsafe::into_handle(std::move(*handle));
  EXPECT_EQ(out, native);
  EXPECT_EQ(unsafe::native_handle(*handle), nullptr);
  handle.reset();
  EXPECT_TRUE(is_open(native));
  CloseHandle(native);
}

TEST_F(waitable_handles, with_a_close_routine_of_their_own_stay_in_the_wrapper) {
  const HANDLE native = new_event();
  {
    waitable_handle handle = unsafe::assume_waitable_with(native, &close_and_count);
    EXPECT_EQ(unsafe::into_handle(std::move(handle)), std::nullopt);
    EXPECT_EQ(unsafe::native_handle(handle), native);  // given back
    EXPECT_EQ(closes, 0);
    EXPECT_TRUE(is_open(native));
  }
  EXPECT_EQ(closes, 1);
  EXPECT_TRUE(is_closed(native));
}

TEST_F(waitable_handles, of_events_stay_in_the_wrapper) {
  const event original(reset_mode::manual);
  waitable_handle handle = original;
  EXPECT_EQ(unsafe::into_handle(std::move(handle)), std::nullopt);
  EXPECT_EQ(unsafe::native_handle(handle), unsafe::native_handle(original));
}

TEST_F(waitable_handles, can_be_waited_for) {
  const HANDLE native = new_event();
  tally activations;
  wait object(unsafe::assume_waitable(native), [&] { activations.add(); });
  object.arm();
  SetEvent(native);
  EXPECT_TRUE(activations.reaches(1));
}

// ---- the close routine of a wait's handle --------------------------------------------------------------

/// A wait whose handle counts how often it is closed, which has been activated, and whose callback is running.
class closing : public waitable_handles {
 protected:
  wait make_and_activate() {
    wait made(unsafe::assume_waitable_with(native, &close_and_count), [this, state = counted(states)] {
      ++running;
      started.add();
      EXPECT_TRUE(release.pass());
      --running;
    });
    made.arm();
    SetEvent(native);
    EXPECT_TRUE(started.reaches(1));
    return made;
  }

  /// Runs `end` while the callback is running, lets that go, and expects the handle to be closed once, after it and
  /// after the callable's destruction.
  template <class End>
  void expect_one_close_after(End end) {
    std::jthread ender = begin(end);
    EXPECT_EQ(closes, 0);
    release.open();
    ender.join();
    EXPECT_EQ(closes, 1);
    EXPECT_EQ(running_when_closed, 0);
    EXPECT_EQ(states_when_closed, 0);
  }

  const HANDLE native = new_event();
  tally started;
  gate release;
};

TEST_F(closing, comes_once_and_last_when_a_wait_is_destroyed) {
  std::optional<wait> object(make_and_activate());
  expect_one_close_after([&] { object.reset(); });
}

TEST_F(closing, comes_once_and_last_when_a_wait_is_assigned) {
  wait object = make_and_activate();
  expect_one_close_after([&] { object = wait(event(reset_mode::manual), [] {}); });
}

TEST_F(closing, does_not_come_with_a_drain_but_after_it) {
  std::optional<wait> object(make_and_activate());
  expect_one_close_after([&] {
    object->stop_and_drain();
    EXPECT_EQ(closes, 0);
    EXPECT_TRUE(is_open(native));
    object.reset();
  });
}

TEST_F(closing, comes_once_when_a_wait_has_been_moved) {
  std::optional<wait> first(make_and_activate());
  std::optional<wait> second(std::move(*first));
  first.reset();
  EXPECT_EQ(closes, 0);
  expect_one_close_after([&] { second.reset(); });
}

TEST_F(closing, waits_for_a_callback_that_is_disassociated) {
  tally disassociated;
  gate go_on;
  std::optional<wait> object(std::in_place, unsafe::assume_waitable_with(native, &close_and_count),
                             [&](wait_activation& activation) {
                               activation.instance().disassociate();
                               disassociated.add();
                               EXPECT_TRUE(go_on.pass());
                             });
  object->arm();
  SetEvent(native);
  ASSERT_TRUE(disassociated.reaches(1));
  object.reset();
  EXPECT_EQ(closes, 0);
  go_on.open();
  EXPECT_TRUE(eventually([&] { return closes == 1; }));
}

TEST_F(closing, comes_when_the_wait_could_not_be_made) {
  struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw std::runtime_error("can not be copied today"); }
    void operator()() const {}
  };
  const throws_when_copied callable;
  EXPECT_THROW(wait(unsafe::assume_waitable_with(native, &close_and_count), callable), std::runtime_error);
  EXPECT_EQ(closes, 1);
  EXPECT_TRUE(is_closed(native));
}

TEST_F(closing, comes_when_the_callback_is_refused) {
  void (*null)() = nullptr;
  EXPECT_THROW(wait(unsafe::assume_waitable_with(native, &close_and_count), null), std::system_error);
  EXPECT_EQ(closes, 1);
  EXPECT_TRUE(is_closed(native));
}

TEST_F(closing, comes_when_the_system_refuses_the_wait) {
  SKIP_UNDER_WINE("accepts environments of any version");
  tidepool::callback_environment environment;
  unsafe::native_environment(environment)->Version = 99;
  EXPECT_THROW(wait(unsafe::assume_waitable_with(native, &close_and_count), [] {}, environment), std::system_error);
  EXPECT_EQ(closes, 1);
  EXPECT_TRUE(is_closed(native));
}

#ifdef _WIN32
// ---- Windows -------------------------------------------------------------------------------------------

TEST_F(waitable_handles, of_changes_in_a_folder_are_closed_by_their_own_routine) {
  wchar_t folder[MAX_PATH];
  ASSERT_NE(GetTempPathW(MAX_PATH, folder), 0u);
  const HANDLE change = FindFirstChangeNotificationW(folder, FALSE, FILE_NOTIFY_CHANGE_FILE_NAME);
  ASSERT_NE(change, INVALID_HANDLE_VALUE);
  tally changes;
  wait object(unsafe::assume_waitable_with(change, &FindCloseChangeNotification), [&] { changes.add(); });
  object.arm();
  wchar_t name[MAX_PATH];
  ASSERT_NE(GetTempFileNameW(folder, L"tp", 0, name), 0u);
  EXPECT_TRUE(changes.reaches(1));
  DeleteFileW(name);
}

TEST_F(waitable_handles, have_no_descriptors_on_windows) {
  EXPECT_SYSTEM_ERROR(static_cast<void>(waitable_handle::from_descriptor(0)), std::errc::not_supported);
  EXPECT_SYSTEM_ERROR(static_cast<void>(event(reset_mode::manual).descriptor()), std::errc::function_not_supported);
}

#else
// ---- descriptors ---------------------------------------------------------------------------------------

/// An owned descriptor.
class descriptor {
 public:
  explicit descriptor(int value) : value_(value) { EXPECT_GE(value_, 0); }
  descriptor(descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() { close(); }

  [[nodiscard]] int get() const { return value_; }

  void close() {
    if (value_ >= 0) {
      ::close(std::exchange(value_, -1));
    }
  }

 private:
  int value_;
};

std::pair<descriptor, descriptor> new_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

std::pair<descriptor, descriptor> new_socket_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

void write_something(int where) {
  const std::uint64_t one = 1;
  EXPECT_EQ(write(where, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

/// Waits for `object` to become signalled, which `signal` brings about.
template <class Signal>
void expect_activation(waitable_handle object, Signal signal) {
  tally activations;
  wait on_ready(std::move(object), [&] { activations.add(); });
  on_ready.arm();
  let_due_times_come();
  EXPECT_EQ(activations.count(), 0u);
  signal();
  EXPECT_TRUE(activations.reaches(1));
}

TEST_F(waitable_handles, can_be_made_from_eventfds) {
  const descriptor counter(eventfd(0, EFD_CLOEXEC));
  expect_activation(waitable_handle::from_descriptor(counter.get()), [&] { write_something(counter.get()); });
}

TEST_F(waitable_handles, can_be_made_from_timerfds) {
  const descriptor alarm(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  expect_activation(waitable_handle::from_descriptor(alarm.get()), [&] {
    itimerspec soon{};
    soon.it_value.tv_nsec = 1'000'000;
    EXPECT_EQ(timerfd_settime(alarm.get(), 0, &soon, nullptr), 0);
  });
}

TEST_F(waitable_handles, can_be_made_from_inotify_descriptors) {
  const descriptor watcher(inotify_init1(IN_CLOEXEC));
  char folder[] = "/tmp/tidepool-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  EXPECT_GE(inotify_add_watch(watcher.get(), folder, IN_CREATE), 0);
  const std::string file = std::string(folder) + "/file";
  expect_activation(waitable_handle::from_descriptor(watcher.get()),
                    [&] { descriptor(open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); });
  unlink(file.c_str());
  rmdir(folder);
}

TEST_F(waitable_handles, can_be_made_from_pidfds) {
  auto [until, end] = new_pipe();
  const pid_t child = fork();
  if (child == 0) {
    char nothing = 0;
    end.close();
    static_cast<void>(!read(until.get(), &nothing, 1));  // until the parent lets go
    _exit(0);
  }
  ASSERT_GT(child, 0);
  const descriptor process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  expect_activation(waitable_handle::from_descriptor(process.get()), [&] { end.close(); });
}

TEST_F(waitable_handles, can_be_made_from_pipes_and_notice_a_hang_up) {
  auto [reading, writing] = new_pipe();
  expect_activation(waitable_handle::from_descriptor(reading.get()), [&] { write_something(writing.get()); });
  auto [orphan, other] = new_pipe();
  expect_activation(waitable_handle::from_descriptor(orphan.get()), [&] { other.close(); });
}

TEST_F(waitable_handles, can_be_made_from_sockets) {
  auto [here, there] = new_socket_pair();
  expect_activation(waitable_handle::from_descriptor(here.get()), [&] { write_something(there.get()); });
}

TEST_F(waitable_handles, of_descriptors_are_duplicates) {
  auto [reading, writing] = new_pipe();
  tally activations;
  wait object(waitable_handle::from_descriptor(reading.get()), [&] { activations.add(); });
  EXPECT_GE(fcntl(reading.get(), F_GETFD), 0);
  reading.close();
  object.arm();
  write_something(writing.get());
  EXPECT_TRUE(activations.reaches(1));
}

TEST_F(waitable_handles, of_descriptors_are_looked_at_and_not_read) {
  const descriptor counter(eventfd(0, EFD_CLOEXEC));
  tally activations;
  wait object(waitable_handle::from_descriptor(counter.get()), [&] { activations.add(); });
  write_something(counter.get());
  for (unsigned i = 1; i <= 3; ++i) {
    object.arm();
    EXPECT_TRUE(activations.reaches(i));
  }
  std::uint64_t value = 0;
  EXPECT_EQ(read(counter.get(), &value, sizeof value), static_cast<ssize_t>(sizeof value));
  EXPECT_EQ(value, 1u);
}

TEST_F(waitable_handles, leave_no_descriptor_behind) {
  auto [reading, writing] = new_pipe();
  const int lowest_free = [] { return descriptor(eventfd(0, EFD_CLOEXEC)).get(); }();
  for (int i = 0; i != 5; ++i) {
    tally activations;
    wait object(waitable_handle::from_descriptor(reading.get()), [&] { activations.add(); });
    object.arm(1ms);
    EXPECT_TRUE(activations.reaches(1));
  }
  // The poller keeps one of its own, from its first use on; what comes and goes with each object must not pile up.
  const int next_free = [] { return descriptor(eventfd(0, EFD_CLOEXEC)).get(); }();
  EXPECT_LT(next_free, lowest_free + 5);
}

TEST_F(waitable_handles, are_not_made_from_what_is_no_descriptor) {
  EXPECT_SYSTEM_ERROR(static_cast<void>(waitable_handle::from_descriptor(-1)), invalid_handle);
  const int closed = [] { return descriptor(eventfd(0, EFD_CLOEXEC)).get(); }();
  EXPECT_SYSTEM_ERROR(static_cast<void>(waitable_handle::from_descriptor(closed)), invalid_handle);
}

TEST_F(waitable_handles, are_not_made_from_other_kinds_of_descriptors) {
  const descriptor file(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  const descriptor folder(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const descriptor device(open("/dev/null", O_RDWR | O_CLOEXEC));
  const descriptor poller(epoll_create1(EPOLL_CLOEXEC));
  for (const descriptor* each : {&file, &folder, &device, &poller}) {
    EXPECT_SYSTEM_ERROR(static_cast<void>(waitable_handle::from_descriptor(each->get())), std::errc::not_supported);
  }
}

// ---- an event's descriptor -----------------------------------------------------------------------------

bool is_readable(int descriptor) {
  pollfd look{descriptor, POLLIN, 0};
  return poll(&look, 1, 0) == 1 && (look.revents & POLLIN) != 0;
}

TEST_F(waitable_handles, of_events_can_be_had_as_descriptors_that_follow_the_event) {
  for (const reset_mode mode : {reset_mode::manual, reset_mode::automatic}) {
    const event original(mode, true);
    const event copy = original;
    const int descriptor = original.descriptor();
    EXPECT_GE(descriptor, 0);
    EXPECT_EQ(copy.descriptor(), descriptor);
    EXPECT_TRUE(is_readable(descriptor));
    copy.reset();
    EXPECT_FALSE(is_readable(descriptor));
    copy.set();
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_TRUE(is_set(original));
    EXPECT_EQ(is_readable(descriptor), mode == reset_mode::manual);
  }
}

TEST_F(waitable_handles, of_events_with_a_descriptor_follow_a_wait_that_resets_the_event) {
  const event ready(reset_mode::automatic);
  const int descriptor = ready.descriptor();
  tally activations;
  wait object(ready, [&] { activations.add(); });
  object.arm();
  ready.set();
  EXPECT_TRUE(activations.reaches(1));
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(waitable_handles, of_events_close_their_descriptor_with_the_last_copy) {
  int descriptor = -1;
  {
    const event ready(reset_mode::manual);
    descriptor = ready.descriptor();
    EXPECT_GE(fcntl(descriptor, F_GETFD), 0);
    EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1);
}

TEST_F(waitable_handles, of_events_wake_a_poll_loop) {
  const event ready(reset_mode::manual);
  pollfd look{ready.descriptor(), POLLIN, 0};
  std::jthread setter([&] { ready.set(); });
  EXPECT_EQ(poll(&look, 1, static_cast<int>(std::chrono::milliseconds(patience).count())), 1);
}
#endif

}  // namespace
}  // namespace safe
