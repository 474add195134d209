// What callbacks ask about and of their own run.
#include <memory>
#include <optional>
#include <string>

#include "safe.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::callback_instance;
using tidepool::event;
using tidepool::reset_mode;

class instances : public safe_test {
 protected:
  static bool is_set(const event& which) { return which.wait_for(0s); }
};

TEST_F(instances, say_whether_another_thread_can_be_had) {
  std::atomic<int> default_pool = -1;
  std::atomic<int> pool_of_one = -1;
  {
    work in_default_pool([&](callback_instance& instance) { default_pool = instance.may_run_long(); });
    in_default_pool.submit();
    const private_pool pool(1);
    work in_pool_of_one([&](callback_instance& instance) { pool_of_one = instance.may_run_long(); }, pool.environment);
    in_pool_of_one.submit();
  }
  EXPECT_EQ(default_pool, 1);
  EXPECT_EQ(pool_of_one, 0);
}

TEST_F(instances, know_their_native_counterpart) {
  tally ran;
  work object([&](callback_instance& instance) {
    EXPECT_NE(tidepool::unsafe::native_handle(instance), nullptr);
    ran.add();
  });
  object.submit();
  EXPECT_TRUE(ran.reaches(1));
}

// ---- events --------------------------------------------------------------------------------------------

TEST_F(instances, set_an_event_when_the_callback_has_returned_and_not_before) {
  const event signal(reset_mode::manual);
  std::atomic<bool> locals_gone = false;
  bool set_too_early = false;
  {
    work object([&](callback_instance& instance) {
      const on_destruction local([&] {
        set_too_early = is_set(signal);
        locals_gone = true;
      });
      instance.set_event_when_returns(signal);
    });
    object.submit();
    signal.wait();
    EXPECT_TRUE(locals_gone);
  }
  EXPECT_FALSE(set_too_early);
}

TEST_F(instances, set_the_event_before_a_drain_is_over) {
  for (int i = 0; i != 200; ++i) {
    const event signal(reset_mode::manual);
    work object([&](callback_instance& instance) { instance.set_event_when_returns(signal); });
    object.submit();
    object.stop_and_drain();
    EXPECT_TRUE(is_set(signal));
  }
}

TEST_F(instances, keep_the_event_alive_until_it_is_set) {
  std::optional<event> signal(std::in_place, reset_mode::manual);
  std::optional<event> watcher(signal);
  tally asked;
  gate release;
  work object([&](callback_instance& instance) {
    instance.set_event_when_returns(*signal);
    asked.add();
    EXPECT_TRUE(release.pass());
  });
  object.submit();
  EXPECT_TRUE(asked.reaches(1));
  signal.reset();
  release.open();
  watcher->wait();

  // Now without anybody else who keeps it.
  work alone([](callback_instance& instance) { instance.set_event_when_returns(event(reset_mode::automatic)); });
  alone.submit();
}

TEST_F(instances, set_several_events_in_the_order_in_which_they_were_asked_for) {
  const event first(reset_mode::manual);
  const event second(reset_mode::manual);
  const event third(reset_mode::manual);
  work object([&](callback_instance& instance) {
    instance.set_event_when_returns(first);
    instance.set_event_when_returns(second);
    instance.set_event_when_returns(second);
    instance.set_event_when_returns(third);
  });
  object.submit();
  third.wait();
  EXPECT_TRUE(is_set(first));
  EXPECT_TRUE(is_set(second));
}

TEST_F(instances, of_one_offs_set_an_event_when_the_callable_has_been_destroyed) {
  const private_pool pool(1);
  for (const bool on_pool : {false, true}) {
    for (int i = 0; i != 100; ++i) {
      std::atomic<int> alive = 0;
      const event signal(reset_mode::manual);
      auto callable = [&signal, state = counted(alive)](callback_instance& instance) {
        instance.set_event_when_returns(signal);
      };
      if (on_pool) {
        tidepool::submit(std::move(callable), pool.environment);
      } else {
        tidepool::submit(std::move(callable));
      }
      signal.wait();
      EXPECT_EQ(alive, 1);  // the one that was moved from
    }
  }
}

TEST_F(instances, of_small_one_offs_set_an_event_too) {
  event signal(reset_mode::automatic);
  tidepool::submit([&signal](callback_instance& instance) { instance.set_event_when_returns(signal); });
  signal.wait();
}

// ---- disassociation --------------------------------------------------------------------------------------

TEST_F(instances, that_are_disassociated_are_not_waited_for) {
  tally disassociated;
  gate release;
  tally ended;
  std::atomic<int> alive = 0;
  {
    work object([&, state = counted(alive)](callback_instance& instance) {
      instance.disassociate();
      instance.disassociate();  // changes nothing
      disassociated.add();
      EXPECT_TRUE(release.pass());
      EXPECT_EQ(*state.alive, 1);  // the callable is still there
      ended.add();
    });
    object.submit();
    EXPECT_TRUE(disassociated.reaches(1));
    object.wait_for_callbacks();
    object.cancel_pending();
    object.stop_and_drain();
  }
  EXPECT_EQ(ended.count(), 0u);
  EXPECT_EQ(alive, 1);
  release.open();
  EXPECT_TRUE(ended.reaches(1));
  EXPECT_TRUE(eventually([&] { return alive == 0; }));
}

TEST_F(instances, that_are_disassociated_may_drain_their_object) {
  std::atomic<int> calls = 0;
  tally drained;
  std::optional<work> object;
  object.emplace([&](callback_instance& instance) {
    if (++calls == 1) {
      instance.disassociate();
      object->submit();
      EXPECT_NO_THROW(object->wait_for_callbacks());
      EXPECT_EQ(calls, 2);
      EXPECT_NO_THROW(object->stop_and_drain());
      EXPECT_NO_THROW(object->cancel_pending());
      drained.add();
    }
  });
  object->submit();
  EXPECT_TRUE(drained.reaches(1));
}

TEST_F(instances, that_are_disassociated_may_destroy_their_object_and_still_use_its_state) {
  for (int i = 0; i != 50; ++i) {
    const private_pool pool(2);
    std::atomic<int> alive = 0;
    const event over(reset_mode::manual);
    std::unique_ptr<work> object;
    object = std::make_unique<work>(
        [&, state = counted(alive)](callback_instance& instance) {
          instance.set_event_when_returns(over);
          instance.disassociate();
          object.reset();
          EXPECT_EQ(*state.alive, 1);
        },
        pool.environment);
    object->submit();
    over.wait();
    EXPECT_EQ(alive, 0);  // destroyed by the run, before the event
  }
}

TEST_F(instances, that_are_disassociated_may_outlive_their_object_and_their_pool) {
  for (int i = 0; i != 50; ++i) {
    std::atomic<int> alive = 0;
    tally disassociated;
    gate release;
    const event over(reset_mode::manual);
    {
      const private_pool pool(2);
      work object(
          [&, state = counted(alive), text = std::string(100, 'x')](callback_instance& instance) {
            instance.set_event_when_returns(over);
            instance.disassociate();
            disassociated.add();
            EXPECT_TRUE(release.pass());
            EXPECT_EQ(text.size(), 100u);
          },
          pool.environment);
      object.submit();
      EXPECT_TRUE(disassociated.reaches(1));
    }
    EXPECT_EQ(alive, 1);
    release.open();
    over.wait();
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(instances, of_one_offs_can_be_disassociated) {
  event over(reset_mode::manual);
  tidepool::submit([&](callback_instance& instance) {
    instance.disassociate();
    instance.set_event_when_returns(over);
  });
  over.wait();
}

TEST_F(instances, that_are_disassociated_leave_the_other_runs_waited_for) {
  tally inside;
  gate release;
  tally ended;
  std::optional<work> object;
  std::atomic<int> order = 0;
  object.emplace([&](callback_instance& instance) {
    if (++order == 1) {
      instance.disassociate();
    }
    inside.add();
    EXPECT_TRUE(release.pass());
    ended.add();
  });
  object->submit();
  EXPECT_TRUE(inside.reaches(1));
  object->submit();
  EXPECT_TRUE(inside.reaches(2));
  tally drained;
  std::jthread drainer([&] {
    object->stop_and_drain();
    EXPECT_GE(ended.count(), 1u);
    drained.add();
  });
  let_another_pool_work();
  EXPECT_EQ(drained.count(), 0u);
  release.open();
  EXPECT_TRUE(drained.reaches(1));
  EXPECT_TRUE(ended.reaches(2));
}

// ---- raw handles -----------------------------------------------------------------------------------------

TEST_F(instances, set_a_raw_event_when_the_callback_returns) {
  const HANDLE signal = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  ASSERT_NE(signal, nullptr);
  {
    work object([&](callback_instance& instance) {
      tidepool::unsafe::set_event_when_returns(instance, signal);
      EXPECT_EQ(WaitForSingleObject(signal, 0), WAIT_TIMEOUT);
    });
    object.submit();
  }
  EXPECT_EQ(WaitForSingleObject(signal, 0), WAIT_OBJECT_0);
  CloseHandle(signal);
}

TEST_F(instances, release_a_semaphore_when_the_callback_returns) {
  const HANDLE semaphore = CreateSemaphoreA(nullptr, 0, 10, nullptr);
  ASSERT_NE(semaphore, nullptr);
  {
    work object([&](callback_instance& instance) {
      tidepool::unsafe::release_semaphore_when_returns(instance, semaphore, 3);
      EXPECT_EQ(WaitForSingleObject(semaphore, 0), WAIT_TIMEOUT);
    });
    object.submit();
  }
  for (int i = 0; i != 3; ++i) {
    EXPECT_EQ(WaitForSingleObject(semaphore, 0), WAIT_OBJECT_0);
  }
  EXPECT_EQ(WaitForSingleObject(semaphore, 0), WAIT_TIMEOUT);
  CloseHandle(semaphore);
}

TEST_F(instances, release_a_mutex_when_the_callback_returns) {
  const HANDLE mutex = CreateMutexA(nullptr, FALSE, nullptr);
  ASSERT_NE(mutex, nullptr);
  {
    work object([&](callback_instance& instance) {
      EXPECT_EQ(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
      tidepool::unsafe::release_mutex_when_returns(instance, mutex);
    });
    object.submit();
  }
  EXPECT_EQ(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);  // and not WAIT_ABANDONED
  ReleaseMutex(mutex);
  CloseHandle(mutex);
}

TEST_F(instances, leave_a_critical_section_when_the_callback_returns) {
  CRITICAL_SECTION section;
  InitializeCriticalSection(&section);
  {
    work object([&](callback_instance& instance) {
      EnterCriticalSection(&section);
      tidepool::unsafe::leave_critical_section_when_returns(instance, &section);
    });
    object.submit();
  }
  EXPECT_TRUE(TryEnterCriticalSection(&section));
  LeaveCriticalSection(&section);
  DeleteCriticalSection(&section);
}

#ifdef _WIN32
constexpr const char* spare_library = "avicap32.dll";
#else
constexpr const char* spare_library = "libresolv.so.2";
#endif

TEST_F(instances, free_a_library_when_the_callback_returns) {
  const auto is_loaded = [] {
    HMODULE module = nullptr;
    return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, spare_library, &module) != FALSE;
  };
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  {
    work object([&](callback_instance& instance) {
      tidepool::unsafe::free_library_when_returns(instance, module);
      EXPECT_TRUE(is_loaded());
    });
    object.submit();
  }
  EXPECT_FALSE(is_loaded());
}

}  // namespace
}  // namespace safe
