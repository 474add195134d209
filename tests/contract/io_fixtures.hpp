// Owners for I/O objects and requests, and what tests of overlapped I/O need.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "contract/blocked_call.hpp"
#include "contract/fixtures.hpp"
#include "contract/io_channels.hpp"
#include "contract/objects.hpp"

#ifndef _WIN32
#include "tidepool/win32/tpextensions.h"
#endif

namespace contract {

/// Whether the I/O path that TIDEPOOL_IO asks for is not there.
inline bool lacks_the_io_path_asked_for() {
#ifdef _WIN32
  return false;
#else
  const char* const asked = std::getenv("TIDEPOOL_IO");
  return asked != nullptr && std::string_view{asked} == "uring" && TidepoolIoPath() != TidepoolIoUring;
#endif
}

class io_test : public contract_test {
 protected:
  void SetUp() override {
    if (lacks_the_io_path_asked_for()) {
      GTEST_SKIP() << "there is no io_uring here";
    }
  }
};

using io_kinds = testing::Types<io_file, io_pipe, io_socket>;
using io_stream_kinds = testing::Types<io_pipe, io_socket>;

/// An error in the type that the API has for them.
constexpr DWORD code(DWORD value) { return value; }

// ---- requests --------------------------------------------------------------------------------------

/// A request: its block, and the buffer that it reads into or writes from. Both are the system's until it is complete.
struct request : OVERLAPPED {
  explicit request(std::size_t length, ULONGLONG offset = 0) : OVERLAPPED{}, buffer(length) { place(offset); }
  explicit request(std::string_view text, ULONGLONG offset = 0) : OVERLAPPED{}, buffer(text.begin(), text.end()) {
    place(offset);
  }
  request(const request&) = delete;
  request& operator=(const request&) = delete;

  /// The first `length` bytes of the buffer.
  [[nodiscard]] std::string text(ULONG_PTR length) const { return {buffer.data(), static_cast<std::size_t>(length)}; }

  /// For a further use of a request that is complete.
  void place(ULONGLONG offset) {
    Offset = static_cast<DWORD>(offset);
    OffsetHigh = static_cast<DWORD>(offset >> 32);
  }

  std::vector<char> buffer;
  /// Tells it from a later one at the same address.
  const unsigned number = next_number();

 private:
  static unsigned next_number() {
    static std::atomic<unsigned> last{0};
    return ++last;
  }
};

/// How a request ended.
struct outcome {
  DWORD error;
  ULONG_PTR bytes;

  friend bool operator==(const outcome&, const outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const outcome& it) {
    return out << "error " << it.error << " with " << it.bytes << " bytes";
  }
};

inline outcome success(ULONG_PTR bytes) { return {NO_ERROR, bytes}; }

/// Makes a request of the system. Zero when it is complete already, ERROR_IO_PENDING when it is under way.
inline DWORD issue_read(HANDLE file, request& its) {
  return ReadFile(file, its.buffer.data(), static_cast<DWORD>(its.buffer.size()), nullptr, &its) ? NO_ERROR
                                                                                                 : GetLastError();
}

inline DWORD issue_write(HANDLE file, request& its) {
  return WriteFile(file, its.buffer.data(), static_cast<DWORD>(its.buffer.size()), nullptr, &its) ? NO_ERROR
                                                                                                  : GetLastError();
}

/// Whether there is a request, of which a callback will tell.
inline bool under_way(DWORD issued) { return issued == NO_ERROR || issued == ERROR_IO_PENDING; }

/// HasOverlappedIoCompleted, for a request that may be completing right now.
inline bool is_complete(request& its) {
#ifdef _WIN32
  return HasOverlappedIoCompleted(&its);
#else
  return static_cast<DWORD>(std::atomic_ref{its.Internal}.load(std::memory_order_acquire)) != STATUS_PENDING;
#endif
}

/// What GetOverlappedResult says when it does not wait, or does.
inline outcome result_of(HANDLE file, request& its, BOOL wait = FALSE) {
  DWORD bytes = 0;
  return GetOverlappedResult(file, &its, &bytes, wait) ? success(bytes) : outcome{GetLastError(), bytes};
}

// ---- I/O objects -----------------------------------------------------------------------------------

/// An owned I/O object that calls `f(overlapped, error, bytes)`, `f(instance)` or `f()`. Its destructor waits for what
/// was started.
class io {
 public:
  template <class F>
  explicit io(HANDLE file, F f, PTP_CALLBACK_ENVIRON how = nullptr)
      : file_{file}, function_{adapt(std::move(f))}, io_{CreateThreadpoolIo(file, &io::run, this, how)} {
    EXPECT_NE(io_, nullptr) << "error " << GetLastError();
  }

  ~io() {
    if (io_ != nullptr) {
      if (testing::Test::HasFailure()) {
        CancelIoEx(file_, nullptr);  // what is pending may be so for ever
      }
      wait_for_callbacks();
      close();
    }
  }

  io(const io&) = delete;
  io& operator=(const io&) = delete;

  [[nodiscard]] PTP_IO get() const { return io_; }

  void start() { StartThreadpoolIo(io_); }
  /// Takes a start back, for which no callback will come.
  void take_back() { CancelThreadpoolIo(io_); }

  /// Starts a request. When there is none after all, because it failed at once, the start is taken back.
  DWORD start_read(HANDLE file, request& its) { return start_with(&issue_read, file, its); }
  DWORD start_write(HANDLE file, request& its) { return start_with(&issue_write, file, its); }

  void wait_for_callbacks() { WaitForThreadpoolIoCallbacks(io_, FALSE); }
  void cancel() { WaitForThreadpoolIoCallbacks(io_, TRUE); }
  void close() { CloseThreadpoolIo(std::exchange(io_, nullptr)); }

  /// The object is released by somebody else from now on.
  void disown() { io_ = nullptr; }

 private:
  using function = std::function<void(PTP_CALLBACK_INSTANCE, OVERLAPPED*, DWORD, ULONG_PTR)>;

  template <class F>
  static function adapt(F f) {
    if constexpr (std::is_invocable_v<F&, OVERLAPPED*, DWORD, ULONG_PTR>) {
      return function{[f = std::move(f)](PTP_CALLBACK_INSTANCE, OVERLAPPED* overlapped, DWORD error,
                                         ULONG_PTR bytes) mutable { f(overlapped, error, bytes); }};
    } else {
      return function{[f = to_instance_function(std::move(f))](PTP_CALLBACK_INSTANCE instance, OVERLAPPED*, DWORD,
                                                               ULONG_PTR) { f(instance); }};
    }
  }

  static void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped, ULONG error,
                           ULONG_PTR bytes, PTP_IO) {
    static_cast<io*>(context)->function_(instance, static_cast<OVERLAPPED*>(overlapped), error, bytes);
  }

  DWORD start_with(DWORD (*issue)(HANDLE, request&), HANDLE file, request& its) {
    const PTP_IO used = io_;  // a callback may close the object before this returns
    StartThreadpoolIo(used);
    const DWORD issued = issue(file, its);
    if (!under_way(issued)) {
      CancelThreadpoolIo(used);
    }
    return issued;
  }

  HANDLE file_;
  function function_;
  PTP_IO io_;
};

/// What callbacks have told, in the order in which they came.
class completions {
 public:
  void add(OVERLAPPED* overlapped, outcome how) {
    {
      const std::lock_guard lock{mutex_};
      all_.push_back({overlapped, static_cast<request*>(overlapped)->number, how});
    }
    tally_.add();
  }

  [[nodiscard]] bool reach(unsigned count) { return tally_.reaches(count); }
  [[nodiscard]] unsigned count() { return tally_.count(); }

  [[nodiscard]] unsigned count_of(const request& its) {
    const std::lock_guard lock{mutex_};
    return static_cast<unsigned>(
        std::count_if(all_.begin(), all_.end(), [&](const entry& each) { return each.number == its.number; }));
  }

  /// The requests in the order in which their callbacks came.
  [[nodiscard]] std::vector<OVERLAPPED*> order() {
    const std::lock_guard lock{mutex_};
    std::vector<OVERLAPPED*> result;
    for (const entry& each : all_) {
      result.push_back(each.overlapped);
    }
    return result;
  }

  /// What was told of the request first. Waits for that.
  [[nodiscard]] outcome of(const request& its) {
    EXPECT_TRUE(eventually([&] { return count_of(its) != 0; })) << "no callback came";
    const std::lock_guard lock{mutex_};
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const entry& each) { return each.number == its.number; });
    return found != all_.end() ? found->how : outcome{0xDEAD, 0};
  }

 private:
  struct entry {
    OVERLAPPED* overlapped;
    unsigned number;
    outcome how;
  };

  std::mutex mutex_;
  std::vector<entry> all_;
  tally tally_;
};

/// An I/O object that keeps what its callbacks are told.
class recorded_io : public completions, public io {
 public:
  explicit recorded_io(HANDLE file, PTP_CALLBACK_ENVIRON how = nullptr)
      : io{file, [this](OVERLAPPED* overlapped, DWORD error, ULONG_PTR bytes) { add(overlapped, {error, bytes}); },
           how} {}

  /// Makes one request, and returns how it ended, at once or in its callback.
  outcome read(HANDLE file, request& its) { return ended(start_read(file, its), its); }
  outcome write(HANDLE file, request& its) { return ended(start_write(file, its), its); }

 private:
  outcome ended(DWORD issued, request& its) { return under_way(issued) ? of(its) : outcome{issued, 0}; }
};

/// Returns when what was complete before is queued for its callbacks: completions are delivered in their order.
inline void let_completions_arrive() {
  const pool other;
  environment where{other};
  const io_pipe channel;
  channel.provide("x");
  request its{1};
  recorded_io later{channel.reader(), where};
  EXPECT_EQ(later.read(channel.reader(), its), success(1));
}

}  // namespace contract
