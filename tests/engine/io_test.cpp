// Handles for descriptors: which are taken, who owns them, buffers in several parts, and SIGPIPE.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>
#include <vector>

#include "contract/io_fixtures.hpp"
#include "tidepool/win32/tpextensions.h"

namespace {

using namespace contract;

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

class io_descriptor : public io_test {
 protected:
  /// Expects that it is refused, and stays the caller's. Closes it.
  static void expect_refused(DWORD error, int descriptor) {
    ASSERT_GE(descriptor, 0);
    EXPECT_FAILS_WITH(error, TidepoolOpenDescriptor(descriptor));
    EXPECT_TRUE(is_open(descriptor));
    close(descriptor);
  }
};

TEST_F(io_descriptor, of_a_folder_is_refused_and_stays_the_callers) {
  expect_refused(ERROR_ACCESS_DENIED, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST_F(io_descriptor, of_an_epoll_or_an_eventfd_is_refused_and_stays_the_callers) {
  expect_refused(ERROR_NOT_SUPPORTED, epoll_create1(EPOLL_CLOEXEC));
  expect_refused(ERROR_NOT_SUPPORTED, eventfd(0, EFD_CLOEXEC));
}

TEST_F(io_descriptor, of_a_datagram_socket_is_refused_and_stays_the_callers) {
  expect_refused(ERROR_NOT_SUPPORTED, socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

TEST_F(io_descriptor, that_is_none_is_refused) {
  const int closed = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(closed);
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, TidepoolOpenDescriptor(closed));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, TidepoolOpenDescriptor(-1));
}

TEST_F(io_descriptor, that_is_taken_over_is_closed_with_the_handle) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  handle reader{TidepoolOpenDescriptor(ends[0])};
  EXPECT_EQ(TidepoolDescriptorOf(reader), ends[0]);
  handle second = duplicate(reader);
  reader.close();
  EXPECT_TRUE(is_open(ends[0]));
  EXPECT_EQ(TidepoolDescriptorOf(second), ends[0]);
  second.close();
  EXPECT_FALSE(is_open(ends[0]));
  close(ends[1]);
}

TEST_F(io_descriptor, of_a_pipe_or_socket_is_made_non_blocking) {
  const io_pipe pipe;
  const io_socket socket;
  for (const HANDLE each : {pipe.reader(), pipe.writer(), socket.reader(), socket.writer()}) {
    EXPECT_NE(fcntl(TidepoolDescriptorOf(each), F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_F(io_descriptor, is_there_for_files_of_either_use_and_for_nothing_else) {
  const io_file overlapped{"content"};
  const io_file waiting{"content", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  EXPECT_TRUE(is_open(TidepoolDescriptorOf(overlapped.reader())));
  EXPECT_TRUE(is_open(TidepoolDescriptorOf(waiting.reader())));
  const handle event = manual_event();
  for (const HANDLE other : {HANDLE{event}, HANDLE{nullptr}}) {
    SetLastError(0);
    EXPECT_EQ(TidepoolDescriptorOf(other), -1);
    EXPECT_EQ(GetLastError(), ERROR_INVALID_HANDLE);
  }
}

TEST_F(io_descriptor, of_a_regular_file_reads_it) {
  const temporary_folder folder;
  const handle file{TidepoolOpenDescriptor(open(folder.file("file", "content").c_str(), O_RDONLY | O_CLOEXEC))};
  recorded_io io{file};
  request its{10, 3};
  EXPECT_EQ(io.read(file, its), success(4));
  EXPECT_EQ(its.text(4), "tent");
}

TEST_F(io_descriptor, of_a_terminal_reads_lines_and_writes) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(master, 0);
  ASSERT_EQ(grantpt(master), 0);
  ASSERT_EQ(unlockpt(master), 0);
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(slave, 0);
  termios quiet{};
  tcgetattr(slave, &quiet);
  quiet.c_lflag &= ~tcflag_t{ECHO};
  quiet.c_oflag &= ~tcflag_t{OPOST};
  tcsetattr(slave, TCSANOW, &quiet);
  {
    const handle terminal{TidepoolOpenDescriptor(slave)};
    recorded_io io{terminal};
    request in{20};
    EXPECT_EQ(io.start_read(terminal, in), ERROR_IO_PENDING);
    EXPECT_EQ(write(master, "line\n", 5), 5);
    EXPECT_EQ(io.of(in), success(5));
    EXPECT_EQ(in.text(5), "line\n");
    request out{"said"};
    EXPECT_EQ(io.write(terminal, out), success(4));
    std::array<char, 4> said{};
    EXPECT_EQ(read(master, said.data(), said.size()), 4);
    EXPECT_EQ(std::string(said.data(), 4), "said");
  }
  close(master);
}

// ---- buffers in several parts --------------------------------------------------------------------------

template <class Kind>
class io_vector : public io_test {
 protected:
  static DWORD start(io& with, BOOL (*call)(HANDLE, const iovec*, DWORD, LPOVERLAPPED) noexcept, HANDLE file,
                     const std::vector<iovec>& parts, request& its) {
    with.start();
    const DWORD issued = call(file, parts.data(), static_cast<DWORD>(parts.size()), &its) ? NO_ERROR : GetLastError();
    if (!under_way(issued)) {
      with.take_back();
    }
    return issued;
  }
};
TYPED_TEST_SUITE(io_vector, io_kinds);

TYPED_TEST(io_vector, parts_are_filled_one_after_the_other) {
  TypeParam channel;
  channel.provide("onetwothree");
  std::string one(3, '.');
  std::string none;
  std::string two(3, '.');
  std::string three(20, '.');
  const std::vector<iovec> parts{{one.data(), 3}, {none.data(), 0}, {two.data(), 3}, {three.data(), 20}};
  request its{std::size_t{0}};
  recorded_io io{channel.reader()};
  EXPECT_TRUE(under_way(this->start(io, &TidepoolReadVector, channel.reader(), parts, its)));
  EXPECT_EQ(io.of(its), success(11));
  EXPECT_EQ(one + '/' + two + '/' + three, "one/two/three" + std::string(15, '.'));
}

TYPED_TEST(io_vector, parts_are_written_one_after_the_other) {
  TypeParam channel;
  std::string one = "one";
  std::string two = "two";
  const std::vector<iovec> parts{{one.data(), 3}, {nullptr, 0}, {two.data(), 3}};
  request its{std::size_t{0}};
  recorded_io io{channel.writer()};
  EXPECT_TRUE(under_way(this->start(io, &TidepoolWriteVector, channel.writer(), parts, its)));
  EXPECT_EQ(io.of(its), success(6));
  EXPECT_EQ(channel.taken(6), "onetwo");
}

TYPED_TEST(io_vector, more_parts_than_the_system_takes_at_once_are_one_request) {
  constexpr std::size_t many = 3000;  // IOV_MAX is 1024
  TypeParam channel;
  std::string out(many, '\0');
  std::string in(many, '.');
  std::vector<iovec> written;
  std::vector<iovec> read;
  for (std::size_t i = 0; i != many; ++i) {
    out[i] = static_cast<char>('a' + i % 26);
    written.push_back({&out[i], 1});
    read.push_back({&in[i], 1});
  }
  request writing{std::size_t{0}};
  request reading{std::size_t{0}};
  {
    recorded_io io{channel.writer()};
    EXPECT_TRUE(under_way(this->start(io, &TidepoolWriteVector, channel.writer(), written, writing)));
    if (TypeParam::is_stream) {
      EXPECT_EQ(channel.taken(many), out);
    }
    EXPECT_EQ(io.of(writing), success(many));
  }
  if (TypeParam::is_stream) {
    channel.provide(out);
  }
  recorded_io io{channel.reader()};
  EXPECT_TRUE(under_way(this->start(io, &TidepoolReadVector, channel.reader(), read, reading)));
  const outcome how = io.of(reading);
  EXPECT_EQ(how.error, NO_ERROR);
  EXPECT_EQ(in.substr(0, how.bytes), out.substr(0, how.bytes));
  if (!TypeParam::is_stream) {
    EXPECT_EQ(how.bytes, many);
  }
}

TYPED_TEST(io_vector, a_large_one_through_a_slow_reader_is_complete_once) {
  constexpr std::size_t length = 100'000;
  TypeParam channel;
  std::array<std::string, 7> texts;
  std::string all;
  std::vector<iovec> parts;
  for (std::size_t i = 0; i != texts.size(); ++i) {
    texts[i].assign(length + i, static_cast<char>('a' + i));
    all += texts[i];
    parts.push_back({texts[i].data(), texts[i].size()});
  }
  request its{std::size_t{0}};
  recorded_io io{channel.writer()};
  EXPECT_TRUE(under_way(this->start(io, &TidepoolWriteVector, channel.writer(), parts, its)));
  if (TypeParam::is_stream) {
    EXPECT_TRUE(channel.taken(all.size()) == all);
  }
  EXPECT_EQ(io.of(its), success(all.size()));
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 1u);
  if (!TypeParam::is_stream) {
    EXPECT_TRUE(channel.taken(all.size()) == all);
  }
}

TYPED_TEST(io_vector, no_parts_are_a_transfer_of_no_bytes_and_none_where_there_should_be_are_refused) {
  TypeParam channel;
  channel.provide("word");
  request its{std::size_t{0}};
  recorded_io io{channel.reader()};
  EXPECT_TRUE(under_way(this->start(io, &TidepoolReadVector, channel.reader(), {}, its)));
  EXPECT_EQ(io.of(its), success(0));
  request wrong{std::size_t{0}};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, TidepoolReadVector(channel.reader(), nullptr, 2, &wrong));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, TidepoolWriteVector(channel.writer(), nullptr, 2, &wrong));
}

// ---- SIGPIPE -------------------------------------------------------------------------------------------

/// Counts the signals of this process that would end it.
class sigpipe_counter {
 public:
  sigpipe_counter() {
    count() = 0;
    struct sigaction counting{};
    counting.sa_handler = [](int) { ++count(); };
    sigaction(SIGPIPE, &counting, &before_);
    EXPECT_EQ(before_.sa_handler, SIG_DFL);
  }
  ~sigpipe_counter() { sigaction(SIGPIPE, &before_, nullptr); }
  sigpipe_counter(const sigpipe_counter&) = delete;
  sigpipe_counter& operator=(const sigpipe_counter&) = delete;

  static std::atomic<int>& count() {
    static std::atomic<int> signals{0};
    return signals;
  }

 private:
  struct sigaction before_{};
};

template <class Kind>
class io_signal : public io_test {
 protected:
  static bool is_pending() {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }
};
TYPED_TEST_SUITE(io_signal, io_stream_kinds);

TYPED_TEST(io_signal, sigpipe_neither_comes_nor_stays_pending) {
  const sigpipe_counter signals;
  TypeParam channel;
  recorded_io io{channel.writer()};
  channel.close_reader();
  request its{"word"};
  EXPECT_NE(io.write(channel.writer(), its).error, NO_ERROR);
  EXPECT_EQ(signals.count(), 0);
  EXPECT_FALSE(this->is_pending());
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TYPED_TEST(io_signal, sigpipe_does_not_come_to_a_write_that_waits_when_the_reader_goes) {
  const sigpipe_counter signals;
  TypeParam channel;
  recorded_io io{channel.writer()};
  request its{std::string(4 << 20, 'x')};
  ASSERT_EQ(io.start_write(channel.writer(), its), ERROR_IO_PENDING);
  channel.close_reader();
  EXPECT_NE(io.of(its).error, NO_ERROR);
  EXPECT_EQ(signals.count(), 0);
}

TEST_F(io_test, sigpipe_does_not_come_to_a_write_that_is_waited_for) {
  const sigpipe_counter signals;
  const temporary_folder folder;
  const std::string path = folder.path("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const handle writer{CreateFileA(path.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, 0, nullptr)};
  DWORD bytes = 0;
  EXPECT_TRUE(WriteFile(writer, "word", 4, &bytes, nullptr));
  close(reader);
  EXPECT_FALSE(WriteFile(writer, "word", 4, &bytes, nullptr));
  EXPECT_EQ(signals.count(), 0);
}

TYPED_TEST(io_signal, a_sigpipe_of_the_callers_own_stays_pending) {
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &only, &before);
  pthread_kill(pthread_self(), SIGPIPE);
  ASSERT_TRUE(this->is_pending());
  {
    TypeParam channel;
    recorded_io io{channel.writer()};
    channel.close_reader();
    request its{"word"};
    EXPECT_NE(io.write(channel.writer(), its).error, NO_ERROR);
  }
  EXPECT_TRUE(this->is_pending());
  int taken = 0;
  sigwait(&only, &taken);
  EXPECT_EQ(taken, SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
