// Callback instances of timers, waits and I/O objects: what is done when the callback returns, running long, being disassociated.
#include <atomic>

#include "contract/io_source.hpp"
#include "contract/spare_library.hpp"

namespace {

using namespace contract;

template <class Source>
class source_instance : public source_test {
 protected:
  source_instance() { InitializeCriticalSection(&section_); }
  ~source_instance() override { DeleteCriticalSection(&section_); }

  static bool becomes_signalled(HANDLE object) {
    return WaitForSingleObject(object, patience_in_milliseconds) == WAIT_OBJECT_0;
  }

  CRITICAL_SECTION section_;
};
TYPED_TEST_SUITE(source_instance, source_kinds_and_io);

// Contract 35
TYPED_TEST(source_instance, an_event_is_set_after_the_callback_and_not_before) {
  const handle event = manual_event();
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     SetEventWhenCallbackReturns(instance, event);
                     EXPECT_FALSE(take(event));
                   },
                   this->where_};
  source.fire();
  EXPECT_TRUE(this->becomes_signalled(event));
}

// Contract 35
TYPED_TEST(source_instance, an_event_is_set_although_the_callback_closes_its_object) {
  const handle event = manual_event();
  TypeParam* self = nullptr;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     SetEventWhenCallbackReturns(instance, event);
                     self->close();
                     EXPECT_FALSE(take(event));
                   },
                   this->where_};
  self = &source;
  source.fire();
  EXPECT_TRUE(this->becomes_signalled(event));
}

// Contract 35
TYPED_TEST(source_instance, a_semaphore_is_released_by_the_given_count) {
  const handle counted = semaphore(0, 10);
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     ReleaseSemaphoreWhenCallbackReturns(instance, counted, 3);
                     EXPECT_FALSE(take(counted));
                   },
                   this->where_};
  source.fire();
  for (int i = 0; i != 3; ++i) {
    EXPECT_TRUE(this->becomes_signalled(counted)) << i;
  }
  drain_pool_of_one(this->where_);
  EXPECT_FALSE(take(counted));
}

// Contract 35
TYPED_TEST(source_instance, a_mutex_and_a_critical_section_that_the_callback_took_are_given_back) {
  const handle owned = mutex();
  gate taken;
  gate may_return;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     EXPECT_TRUE(this->becomes_signalled(owned));
                     ReleaseMutexWhenCallbackReturns(instance, owned);
                     EnterCriticalSection(&this->section_);
                     LeaveCriticalSectionWhenCallbackReturns(instance, &this->section_);
                     taken.open();
                     EXPECT_TRUE(may_return.pass());
                   },
                   this->where_};
  source.fire();
  ASSERT_TRUE(taken.pass());
  EXPECT_FALSE(take(owned));
  EXPECT_FALSE(TryEnterCriticalSection(&this->section_));
  may_return.open();
  EXPECT_TRUE(this->becomes_signalled(owned));
  EXPECT_TRUE(ReleaseMutex(owned));
  EnterCriticalSection(&this->section_);
  LeaveCriticalSection(&this->section_);
}

// Contract 35
TYPED_TEST(source_instance, a_library_is_freed) {
  ASSERT_FALSE(is_loaded(spare_library));
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  gate asked;
  gate may_return;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     FreeLibraryWhenCallbackReturns(instance, module);
                     asked.open();
                     EXPECT_TRUE(may_return.pass());
                   },
                   this->where_};
  source.fire();
  ASSERT_TRUE(asked.pass());
  EXPECT_TRUE(is_loaded(spare_library));
  may_return.open();
  source.wait_for_callbacks();
  drain_pool_of_one(this->where_);
  EXPECT_FALSE(is_loaded(spare_library));
}

// Contract 35
TYPED_TEST(source_instance, a_wait_for_the_callback_covers_what_it_asked_for) {
  for (int round = 0; round != 100; ++round) {
    const handle event = manual_event();
    gate started;
    TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                       EnterCriticalSection(&this->section_);
                       LeaveCriticalSectionWhenCallbackReturns(instance, &this->section_);
                       SetEventWhenCallbackReturns(instance, event);
                       started.open();
                     },
                     this->where_};
    source.fire();
    ASSERT_TRUE(started.pass());
    source.wait_for_callbacks();
    ASSERT_TRUE(take(event));
    ASSERT_TRUE(TryEnterCriticalSection(&this->section_));
    LeaveCriticalSection(&this->section_);
  }
}

// Contract 35
TYPED_TEST(source_instance, what_one_callback_asked_for_is_not_done_for_the_next) {
  const handle counted = semaphore(0, 10);
  tally ran;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     if (ran.count() == 0) {
                       ReleaseSemaphoreWhenCallbackReturns(instance, counted, 1);
                     }
                     ran.add();
                   },
                   this->where_};
  for (unsigned i = 1; i != 5; ++i) {
    source.fire();
    ASSERT_TRUE(ran.reaches(i));
  }
  drain_pool_of_one(this->where_);
  EXPECT_TRUE(take(counted));
  EXPECT_FALSE(take(counted));
}

// Contract 33
TYPED_TEST(source_instance, a_callback_may_run_long_only_when_another_thread_can_be_had) {
  for (const DWORD threads : {1u, 2u}) {
    const pool some{threads};
    environment where{some};
    std::atomic<BOOL> may{threads == 1};
    gate asked;
    TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                       may = CallbackMayRunLong(instance);
                       asked.open();
                     },
                     where};
    source.fire();
    ASSERT_TRUE(asked.pass());
    EXPECT_EQ(may, threads == 2 ? TRUE : FALSE);
  }
}

// Contract 34
TYPED_TEST(source_instance, waiters_do_not_wait_for_a_callback_that_was_disassociated) {
  const pool two{2};
  environment where{two};
  gate disassociated;
  gate waited;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     DisassociateCurrentThreadFromCallback(instance);
                     disassociated.open();
                     EXPECT_TRUE(waited.pass());
                   },
                   where};
  source.fire();
  ASSERT_TRUE(disassociated.pass());
  source.wait_for_callbacks();
  source.cancel();
  waited.open();
  // The callback still uses this frame: when both threads are elsewhere it has returned.
  occupier both{where, 2};
  EXPECT_TRUE(both.held());
}

// Contract 34
TYPED_TEST(source_instance, disassociating_releases_a_thread_that_waits_already) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 20; ++round) {
    gate started;
    gate about_to_wait;
    gate waited;
    TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                       started.open();
                       EXPECT_TRUE(about_to_wait.pass());
                       std::this_thread::yield();
                       DisassociateCurrentThreadFromCallback(instance);
                       EXPECT_TRUE(waited.pass());
                     },
                     where};
    source.fire();
    ASSERT_TRUE(started.pass());
    about_to_wait.open();
    source.wait_for_callbacks();
    waited.open();
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
  }
}

// Contract 34
TYPED_TEST(source_instance, a_disassociated_callback_can_unset_wait_for_and_close_its_own_object) {
  // Without the disassociation it would wait for itself.
  gate finished;
  TypeParam* self = nullptr;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     DisassociateCurrentThreadFromCallback(instance);
                     self->unset();
                     self->wait_for_callbacks();
                     self->cancel();
                     self->close();
                     finished.open();
                   },
                   this->where_};
  self = &source;
  source.fire();
  EXPECT_TRUE(finished.pass());
  drain_pool_of_one(this->where_);
}

// Contract 34
TYPED_TEST(source_instance, an_object_can_fire_again_while_a_disassociated_callback_runs) {
  const pool two{2};
  environment where{two};
  gate disassociated;
  gate waited;
  tally ran;
  TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                     ran.add();
                     if (ran.count() == 1) {
                       DisassociateCurrentThreadFromCallback(instance);
                       disassociated.open();
                       EXPECT_TRUE(waited.pass());
                     }
                   },
                   where};
  source.fire();
  ASSERT_TRUE(disassociated.pass());
  source.fire();
  EXPECT_TRUE(ran.reaches(2));
  source.wait_for_callbacks();
  waited.open();
  occupier both{where, 2};
  EXPECT_TRUE(both.held());
}

// Contract 34
TYPED_TEST(source_instance, an_object_can_be_closed_and_its_successor_made_while_a_disassociated_callback_runs) {
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 20; ++round) {
    gate disassociated;
    gate closed;
    TypeParam source{[&](PTP_CALLBACK_INSTANCE instance) {
                       DisassociateCurrentThreadFromCallback(instance);
                       disassociated.open();
                       EXPECT_TRUE(closed.pass());
                     },
                     where};
    source.fire();
    ASSERT_TRUE(disassociated.pass());
    source.wait_for_callbacks();
    source.close();
    gate ran;
    TypeParam successor{[&] { ran.open(); }, where};
    successor.fire();
    EXPECT_TRUE(ran.pass());
    closed.open();
    occupier both{where, 2};
    ASSERT_TRUE(both.held());
  }
}

}  // namespace
