// Handles used, duplicated and closed by many threads at once.
#include <array>
#include <atomic>
#include <random>

#include "contract/objects.hpp"

namespace contract {
namespace {

class handle_races : public contract_test {};

TEST_F(handle_races, leave_an_object_usable_through_its_other_handles) {
  const handle count = semaphore(0, 1000);
  together(4, [&](unsigned i) {
    for (int round = 0; round != repetitions; ++round) {
      const handle mine = duplicate(count);
      if (i % 2 == 0) {
        ASSERT_EQ(WaitForSingleObject(mine, patience_in_milliseconds), WAIT_OBJECT_0);
      } else {
        ASSERT_TRUE(ReleaseSemaphore(mine, 1, nullptr));
      }
    }
  });
  EXPECT_FALSE(take(count));
}

TEST_F(handle_races, between_a_wait_and_a_close_lose_no_signal) {
  const handle event = automatic_event();
  for (int round = 0; round != repetitions; ++round) {
    handle owner = duplicate(event);
    const HANDLE closing = owner;
    DWORD result = WAIT_FAILED;
    DWORD error = 0;
    together(2, [&](unsigned i) {
      if (i == 0) {
        result = WaitForSingleObject(closing, patience_in_milliseconds);
        error = GetLastError();
      } else {
        owner.close();
        ASSERT_TRUE(SetEvent(event));
      }
    });
    if (result == WAIT_FAILED) {  // closed first
      ASSERT_EQ(error, static_cast<DWORD>(ERROR_INVALID_HANDLE));
      ASSERT_TRUE(take(event));
    } else {
      ASSERT_EQ(result, WAIT_OBJECT_0);
      ASSERT_FALSE(take(event));
    }
  }
}

#ifndef _WIN32
// From here on handles are used that another thread may have closed. On Windows the number of a closed handle comes
// back: such a program could close what the C library has opened.

TEST_F(handle_races, let_exactly_one_of_several_threads_close_a_handle) {
  for (int round = 0; round != repetitions; ++round) {
    const HANDLE event = CreateEventA(nullptr, TRUE, FALSE, nullptr);
    std::atomic<int> closed{0};
    together(3, [&](unsigned) {
      if (CloseHandle(event)) {
        closed.fetch_add(1);
      } else {
        ASSERT_EQ(GetLastError(), ERROR_INVALID_HANDLE);
      }
    });
    ASSERT_EQ(closed.load(), 1);
  }
}

TEST_F(handle_races, never_bring_back_a_closed_handle) {
  const HANDLE closed = CreateEventA(nullptr, TRUE, FALSE, nullptr);
  ASSERT_TRUE(CloseHandle(closed));
  for (int round = 0; round != 10'000; ++round) {
    const handle event = manual_event();
    ASSERT_NE(HANDLE{event}, closed);
    ASSERT_FALSE(SetEvent(closed));
  }
}

TEST_F(handle_races, end_in_success_or_in_an_invalid_handle) {
  // A few places, each with a handle that any thread uses, replaces, or closes without telling.
  std::array<std::atomic<HANDLE>, 4> places{};
  std::atomic<int> successes{0};
  const auto check = [&](BOOL succeeded) {
    if (succeeded) {
      successes.fetch_add(1, std::memory_order_relaxed);
    } else {
      ASSERT_EQ(GetLastError(), ERROR_INVALID_HANDLE);
    }
  };
  const auto check_wait = [](DWORD result) {
    ASSERT_TRUE(result == WAIT_OBJECT_0 || result == WAIT_TIMEOUT ||
                (result == WAIT_FAILED && GetLastError() == ERROR_INVALID_HANDLE))
        << result << ' ' << GetLastError();
  };
  together(4, [&](unsigned i) {
    std::minstd_rand random{i + 1};
    for (int round = 0; round != 2000; ++round) {
      std::atomic<HANDLE>& place = places[random() % places.size()];
      const HANDLE other = places[random() % places.size()].load();
      const HANDLE event = place.load();
      switch (random() % 8) {
        case 0: {
          const HANDLE old = place.exchange(CreateEventA(nullptr, random() % 2 == 0, FALSE, nullptr));
          CloseHandle(old);
          break;
        }
        case 1: check(CloseHandle(event)); break;
        case 2: check(ResetEvent(event)); break;
        case 3: {
          HANDLE second = nullptr;
          const DWORD options = random() % 2 == 0 ? DUPLICATE_CLOSE_SOURCE : 0;
          const BOOL made =
              DuplicateHandle(GetCurrentProcess(), event, GetCurrentProcess(), &second, 0, FALSE, options);
          check(made);
          if (made) {
            check(SetEvent(second));
            check(CloseHandle(second));
          }
          break;
        }
        case 4: check_wait(WaitForSingleObject(event, 1)); break;
        case 5: {
          const std::array<HANDLE, 2> both{event, other};
          const DWORD result = WaitForMultipleObjects(2, both.data(), FALSE, 0);
          ASSERT_TRUE(result <= 1 || result == WAIT_TIMEOUT || result == WAIT_FAILED) << result;
          break;
        }
        case 6:
          if (!CompareObjectHandles(event, other)) {
            ASSERT_TRUE(GetLastError() == ERROR_INVALID_HANDLE || GetLastError() == ERROR_NOT_SAME_OBJECT);
          }
          break;
        default: check(SetEvent(event));
      }
    }
  });
  EXPECT_GT(successes.load(), 0);
  for (const std::atomic<HANDLE>& place : places) {
    CloseHandle(place.load());
  }
}
#endif

}  // namespace
}  // namespace contract
