// What is done when a callback has returned: set an event, release a semaphore or a mutex, leave a critical section,
// free a library. And the modules that objects keep loaded.
#include <atomic>

#include "contract/sources.hpp"

namespace {

using namespace contract;
using contract::wait;  // not the system call

const DWORD patience_milliseconds = static_cast<DWORD>(std::chrono::milliseconds{patience}.count());

/// A library of the system that nothing else in this process uses.
#ifdef _WIN32
constexpr const char* spare_library = "version.dll";
#else
constexpr const char* spare_library = "libBrokenLocale.so.1";
#endif

bool is_loaded(const char* library) {
  HMODULE found = nullptr;
  return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, library, &found) != FALSE;
}

class handle {
 public:
  explicit handle(HANDLE value) : handle_{value} { EXPECT_NE(value, nullptr); }
  ~handle() { CloseHandle(handle_); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  operator HANDLE() const { return handle_; }

 private:
  HANDLE handle_;
};

class when_callback_returns : public contract_test {
 protected:
  when_callback_returns() { InitializeCriticalSection(&section_); }
  ~when_callback_returns() override { DeleteCriticalSection(&section_); }

  static bool signalled(HANDLE object) { return WaitForSingleObject(object, 0) == WAIT_OBJECT_0; }
  static bool becomes_signalled(HANDLE object) {
    return WaitForSingleObject(object, patience_milliseconds) == WAIT_OBJECT_0;
  }
  static bool seen_signalled(HANDLE object) {
    return eventually_without_sleep([object] { return signalled(object); });
  }

  CRITICAL_SECTION section_;
  const handle event_{CreateEventW(nullptr, TRUE, FALSE, nullptr)};
  const handle semaphore_{CreateSemaphoreW(nullptr, 0, 10, nullptr)};
  const handle mutex_{CreateMutexW(nullptr, FALSE, nullptr)};
  const pool one_{1};
  environment where_{one_};
};

// Contract 35
TEST_F(when_callback_returns, an_event_is_set_after_the_callback_and_not_before) {
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                SetEventWhenCallbackReturns(instance, event_);
                EXPECT_FALSE(signalled(event_));
              },
              where_};
  object.submit();
  EXPECT_TRUE(becomes_signalled(event_));
}

// Contract 35
TEST_F(when_callback_returns, an_event_is_set_when_nobody_waits_and_the_object_is_closed) {
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK self) {
        SetEventWhenCallbackReturns(instance, context);
        CloseThreadpoolWork(self);
      },
      event_, where_);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  EXPECT_TRUE(becomes_signalled(event_));
}

// Contract 35
TEST_F(when_callback_returns, a_one_off_callback_can_ask_for_everything_too) {
  ASSERT_TRUE(submit_one_off(
      [&](PTP_CALLBACK_INSTANCE instance) {
        SetEventWhenCallbackReturns(instance, event_);
        ReleaseSemaphoreWhenCallbackReturns(instance, semaphore_, 1);
        EXPECT_FALSE(signalled(event_));
      },
      where_));
  EXPECT_TRUE(becomes_signalled(event_));
  EXPECT_TRUE(signalled(semaphore_));
}

// Contract 35
TEST_F(when_callback_returns, a_semaphore_is_released_by_the_given_count) {
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                ReleaseSemaphoreWhenCallbackReturns(instance, semaphore_, 3);
                EXPECT_FALSE(signalled(semaphore_));
              },
              where_};
  object.submit();
  for (int i = 0; i != 3; ++i) {
    EXPECT_TRUE(becomes_signalled(semaphore_)) << i;
  }
  drain_pool_of_one(where_);
  EXPECT_FALSE(signalled(semaphore_));
}

// Contract 35
TEST_F(when_callback_returns, a_mutex_that_the_callback_took_is_released) {
  gate taken;
  gate may_return;
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                EXPECT_TRUE(becomes_signalled(mutex_));
                ReleaseMutexWhenCallbackReturns(instance, mutex_);
                taken.open();
                EXPECT_TRUE(may_return.pass());
              },
              where_};
  object.submit();
  ASSERT_TRUE(taken.pass());
  EXPECT_FALSE(signalled(mutex_));
  may_return.open();
  EXPECT_TRUE(becomes_signalled(mutex_));
  EXPECT_TRUE(ReleaseMutex(mutex_));
}

// Contract 35
TEST_F(when_callback_returns, a_critical_section_that_the_callback_entered_is_left) {
  gate entered;
  gate may_return;
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                EnterCriticalSection(&section_);
                LeaveCriticalSectionWhenCallbackReturns(instance, &section_);
                entered.open();
                EXPECT_TRUE(may_return.pass());
              },
              where_};
  object.submit();
  ASSERT_TRUE(entered.pass());
  EXPECT_FALSE(TryEnterCriticalSection(&section_));
  may_return.open();
  EnterCriticalSection(&section_);
  LeaveCriticalSection(&section_);
}

// Contract 35
TEST_F(when_callback_returns, a_library_is_freed) {
  ASSERT_FALSE(is_loaded(spare_library));
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  gate asked;
  gate may_return;
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                FreeLibraryWhenCallbackReturns(instance, module);
                asked.open();
                EXPECT_TRUE(may_return.pass());
              },
              where_};
  object.submit();
  ASSERT_TRUE(asked.pass());
  EXPECT_TRUE(is_loaded(spare_library));
  may_return.open();
  object.wait();
  drain_pool_of_one(where_);
  EXPECT_FALSE(is_loaded(spare_library));
}

// Contract 35
TEST_F(when_callback_returns, a_wait_for_the_callback_covers_what_it_asked_for) {
  for (int round = 0; round != 200; ++round) {
    ASSERT_TRUE(ResetEvent(event_));
    work object{[&](PTP_CALLBACK_INSTANCE instance) {
                  EnterCriticalSection(&section_);
                  LeaveCriticalSectionWhenCallbackReturns(instance, &section_);
                  SetEventWhenCallbackReturns(instance, event_);
                },
                where_};
    object.submit();
    object.wait();
    ASSERT_TRUE(signalled(event_));
    ASSERT_TRUE(TryEnterCriticalSection(&section_));
    LeaveCriticalSection(&section_);
  }
}

// Contract 35
TEST_F(when_callback_returns, what_one_callback_asked_for_is_not_done_for_the_next) {
  std::atomic<int> calls{0};
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                if (calls++ == 0) {
                  ReleaseSemaphoreWhenCallbackReturns(instance, semaphore_, 1);
                }
              },
              where_};
  object.submit(5);
  object.wait();
  drain_pool_of_one(where_);
  EXPECT_TRUE(signalled(semaphore_));
  EXPECT_FALSE(signalled(semaphore_));
}

// Contract 35. The order can be seen from outside by its results: whoever sees a later one sees the earlier ones.
// The asking is in the opposite order, so that the order of the requests can not explain it.
TEST_F(when_callback_returns, the_order_is_critical_section_mutex_semaphore_event) {
  for (int round = 0; round != 600; ++round) {
    ASSERT_TRUE(ResetEvent(event_));
    std::atomic<bool> asked{false};
    std::atomic<bool> watching{false};
    work object{[&](PTP_CALLBACK_INSTANCE instance) {
                  EnterCriticalSection(&section_);
                  EXPECT_TRUE(becomes_signalled(mutex_));
                  SetEventWhenCallbackReturns(instance, event_);
                  ReleaseSemaphoreWhenCallbackReturns(instance, semaphore_, 1);
                  ReleaseMutexWhenCallbackReturns(instance, mutex_);
                  LeaveCriticalSectionWhenCallbackReturns(instance, &section_);
                  asked = true;
                  EXPECT_TRUE(eventually_without_sleep([&] { return watching.load(); }));
                },
                where_};
    object.submit();
    EXPECT_TRUE(eventually_without_sleep([&] { return asked.load(); }));
    watching = true;
    switch (round % 3) {
      case 0:
        ASSERT_TRUE(seen_signalled(event_));
        ASSERT_TRUE(signalled(semaphore_));
        ASSERT_TRUE(signalled(mutex_));
        break;
      case 1:
        ASSERT_TRUE(seen_signalled(semaphore_));
        ASSERT_TRUE(signalled(mutex_));
        break;
      default: ASSERT_TRUE(seen_signalled(mutex_)); break;
    }
    ASSERT_TRUE(TryEnterCriticalSection(&section_));
    LeaveCriticalSection(&section_);
    ASSERT_TRUE(ReleaseMutex(mutex_));
    object.wait();
    if (round % 3 == 2) {
      ASSERT_TRUE(signalled(semaphore_));
    }
  }
}

// Contract 35. Both waits lead to callbacks on the one thread, which is the one that signals: they come in the order of the
// signals. (Wine's come in that of its own threads.)
TEST_F(when_callback_returns, the_semaphore_is_released_before_the_event_is_set) {
  SKIP_UNDER_WINE("waits that are satisfied at the same time come in any order");
  journal order;
  tally over;
  wait for_event{[&](DWORD) {
                   order.note('e');
                   over.add();
                 },
                 where_};
  wait for_semaphore{[&](DWORD) {
                       order.note('s');
                       over.add();
                     },
                     where_};
  for_event.set(event_);
  for_semaphore.set(semaphore_);
  work object{[&](PTP_CALLBACK_INSTANCE instance) {
                SetEventWhenCallbackReturns(instance, event_);
                ReleaseSemaphoreWhenCallbackReturns(instance, semaphore_, 1);
              },
              where_};
  object.submit();
  EXPECT_TRUE(over.reaches(2));
  EXPECT_EQ(order.text(), "se");
}

// Contract 35
TEST_F(when_callback_returns, the_library_is_freed_after_the_event_is_set) {
  // A thread that waits for the library to go finds the event set.
  for (int round = 0; round != 20; ++round) {
    ASSERT_TRUE(ResetEvent(event_));
    const HMODULE module = LoadLibraryA(spare_library);
    ASSERT_NE(module, nullptr);
    work object{[&](PTP_CALLBACK_INSTANCE instance) {
                  FreeLibraryWhenCallbackReturns(instance, module);
                  SetEventWhenCallbackReturns(instance, event_);
                },
                where_};
    object.submit();
    ASSERT_TRUE(eventually([] { return !is_loaded(spare_library); }));
    EXPECT_TRUE(signalled(event_));
    object.wait();
  }
}

// Contract 35, 2
TEST_F(when_callback_returns, the_library_of_an_environment_stays_loaded_while_a_callback_runs) {
  ASSERT_FALSE(is_loaded(spare_library));
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  SetThreadpoolCallbackLibrary(where_, module);
  gate started;
  gate may_return;
  work object{[&] {
                started.open();
                EXPECT_TRUE(may_return.pass());
              },
              where_};
  object.submit();
  ASSERT_TRUE(started.pass());
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_TRUE(is_loaded(spare_library));
  object.close();
  EXPECT_TRUE(is_loaded(spare_library));
  may_return.open();
  EXPECT_TRUE(eventually([] { return !is_loaded(spare_library); }));
}

// Contract 35, 2
TEST_F(when_callback_returns, the_library_of_an_environment_stays_loaded_while_a_one_off_callback_is_queued_or_runs) {
  ASSERT_FALSE(is_loaded(spare_library));
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  environment with_library{one_};
  SetThreadpoolCallbackLibrary(with_library, module);
  occupier busy{where_, 1};
  ASSERT_TRUE(busy.held());
  std::atomic<bool> was_loaded{false};
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { was_loaded = is_loaded(spare_library); }, with_library));
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_TRUE(is_loaded(spare_library));
  busy.release();
  EXPECT_TRUE(eventually([] { return !is_loaded(spare_library); }));
  EXPECT_TRUE(was_loaded);
}

}  // namespace
