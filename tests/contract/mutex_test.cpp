// Mutexes: ownership, recursion, abandonment.
#include <functional>
#include <thread>
#include <vector>

#include "contract/objects.hpp"

namespace contract {
namespace {

constexpr DWORD timed_out = WAIT_TIMEOUT;
constexpr DWORD abandoned = WAIT_ABANDONED;

class mutexes : public contract_test {
 protected:
  /// What `f` returns on a thread of its own, which has ended when this returns.
  static DWORD elsewhere(const std::function<DWORD()>& f) {
    DWORD result = WAIT_FAILED;
    std::thread{[&] { result = f(); }}.join();
    return result;
  }

  /// Whether another thread can have `object`; it gives the mutex back.
  static bool is_free(HANDLE object) {
    return elsewhere([object] {
             const DWORD result = WaitForSingleObject(object, 0);
             if (result == WAIT_OBJECT_0) {
               EXPECT_TRUE(ReleaseMutex(object));
             }
             return result;
           }) == WAIT_OBJECT_0;
  }
};

TEST_F(mutexes, belong_to_one_thread_at_a_time) {
  const handle lock = mutex();
  EXPECT_TRUE(is_free(lock));
  EXPECT_TRUE(take(lock));
  EXPECT_FALSE(is_free(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(is_free(lock));
}

TEST_F(mutexes, can_belong_to_their_creator_from_the_start) {
  const handle lock = mutex(true);
  EXPECT_FALSE(is_free(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(is_free(lock));

  const handle extended{CreateMutexExA(nullptr, nullptr, CREATE_MUTEX_INITIAL_OWNER, MUTEX_ALL_ACCESS)};
  EXPECT_FALSE(is_free(extended));
  EXPECT_TRUE(ReleaseMutex(extended));
  const handle wide{CreateMutexW(nullptr, FALSE, nullptr)};
  EXPECT_TRUE(is_free(wide));
}

TEST_F(mutexes, are_released_as_often_as_they_were_acquired) {
  const handle lock = mutex(true);
  EXPECT_TRUE(take(lock));
  EXPECT_EQ(WaitForSingleObject(lock, INFINITE), WAIT_OBJECT_0);
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_FALSE(is_free(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(is_free(lock));
  EXPECT_FAILS_WITH(ERROR_NOT_OWNER, ReleaseMutex(lock));
}

TEST_F(mutexes, are_released_by_their_owner_only) {
  const handle lock = mutex();
  EXPECT_FAILS_WITH(ERROR_NOT_OWNER, ReleaseMutex(lock));
  EXPECT_TRUE(take(lock));
  std::thread{[&] { EXPECT_FAILS_WITH(ERROR_NOT_OWNER, ReleaseMutex(lock)); }}.join();
  EXPECT_FALSE(is_free(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
}

TEST_F(mutexes, pass_to_the_thread_that_waits) {
  const handle lock = mutex(true);
  const handle release = manual_event();
  DWORD got = WAIT_FAILED;
  gate owned;
  std::thread next{[&] {
    got = WaitForSingleObject(lock, patience_in_milliseconds);
    owned.open();
    EXPECT_EQ(WaitForSingleObject(release, patience_in_milliseconds), WAIT_OBJECT_0);
    EXPECT_TRUE(ReleaseMutex(lock));
  }};
  EXPECT_FALSE(owned.is_open());
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(owned.pass());
  EXPECT_EQ(got, WAIT_OBJECT_0);
  EXPECT_FALSE(is_free(lock));
  EXPECT_TRUE(SetEvent(release));
  next.join();
  EXPECT_TRUE(is_free(lock));
}

TEST_F(mutexes, are_abandoned_when_their_owner_ends) {
  const handle lock = mutex();
  EXPECT_EQ(elsewhere([&] { return WaitForSingleObject(lock, 0); }), WAIT_OBJECT_0);
  EXPECT_EQ(WaitForSingleObject(lock, patience_in_milliseconds), abandoned);
  // It is owned all the same, and what has been told once is not told again.
  EXPECT_FALSE(is_free(lock));
  EXPECT_TRUE(take(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(is_free(lock));
}

TEST_F(mutexes, are_abandoned_once_although_they_were_acquired_twice) {
  const handle lock = mutex();
  EXPECT_EQ(elsewhere([&] {
              WaitForSingleObject(lock, 0);
              return WaitForSingleObject(lock, 0);
            }),
            WAIT_OBJECT_0);
  EXPECT_EQ(WaitForSingleObject(lock, patience_in_milliseconds), abandoned);
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(is_free(lock));
}

TEST_F(mutexes, are_abandoned_to_the_threads_that_wait_one_after_the_other) {
  const handle lock = mutex();
  gate owned;
  gate end;
  std::thread owner{[&] {
    EXPECT_TRUE(take(lock));
    owned.open();
    EXPECT_TRUE(end.pass());
  }};
  EXPECT_TRUE(owned.pass());
  waiters threads{3, lock};  // each becomes the owner, and ends as such
  ASSERT_TRUE(threads.asleep());
  end.open();
  owner.join();
  EXPECT_TRUE(threads.returned(3));
  EXPECT_EQ(threads.results(), std::vector<DWORD>(3, abandoned));
  threads.join();
  EXPECT_EQ(WaitForSingleObject(lock, patience_in_milliseconds), abandoned);
  EXPECT_TRUE(ReleaseMutex(lock));
}

TEST_F(mutexes, of_one_thread_are_all_abandoned) {
  const handle one = mutex();
  const handle released = mutex();
  const handle two = mutex();
  EXPECT_EQ(elsewhere([&] {
              EXPECT_TRUE(take(one));
              EXPECT_TRUE(take(released));
              EXPECT_TRUE(take(two));
              EXPECT_TRUE(ReleaseMutex(released));
              return 0;
            }),
            0u);
  EXPECT_EQ(WaitForSingleObject(one, patience_in_milliseconds), abandoned);
  EXPECT_EQ(WaitForSingleObject(released, patience_in_milliseconds), WAIT_OBJECT_0);
  EXPECT_EQ(WaitForSingleObject(two, patience_in_milliseconds), abandoned);
  for (const handle* lock : {&one, &released, &two}) {
    EXPECT_TRUE(ReleaseMutex(*lock));
  }
}

TEST_F(mutexes, survive_that_their_handles_are_closed_by_another_thread_than_their_owner) {
  handle lock = mutex();
  gate owned;
  gate closed;
  std::thread owner{[&] {
    EXPECT_TRUE(take(lock));
    owned.open();
    EXPECT_TRUE(closed.pass());
    const handle another = mutex(true);  // the owner goes on to own others
    EXPECT_TRUE(ReleaseMutex(another));
  }};
  EXPECT_TRUE(owned.pass());
  lock.close();
  closed.open();
  owner.join();
}

TEST_F(mutexes, survive_that_their_handles_are_closed_while_they_are_owned) {
  const handle stays = mutex(true);
  for (int i = 0; i != 100; ++i) {
    handle lock = mutex(true);
    EXPECT_TRUE(take(lock));
    lock.close();
  }
  EXPECT_FALSE(is_free(stays));
  EXPECT_TRUE(ReleaseMutex(stays));
  EXPECT_TRUE(is_free(stays));
}

/// Releases a mutex when its thread ends.
struct releaser {
  ~releaser() {
    if (lock != nullptr) {
      released = ReleaseMutex(lock);
    }
  }
  HANDLE lock = nullptr;
  static inline BOOL released = FALSE;
};
thread_local releaser at_thread_end;

TEST_F(mutexes, can_still_be_released_by_the_destructor_of_a_thread_local_object) {
  const handle lock = mutex();
  releaser::released = FALSE;
  EXPECT_EQ(elsewhere([&] {
              at_thread_end.lock = lock;
              return WaitForSingleObject(lock, 0);
            }),
            WAIT_OBJECT_0);
  EXPECT_TRUE(releaser::released);
  EXPECT_EQ(WaitForSingleObject(lock, patience_in_milliseconds), WAIT_OBJECT_0);
  EXPECT_TRUE(ReleaseMutex(lock));
}

TEST_F(mutexes, keep_what_they_guard_to_one_thread) {
  const handle lock = mutex();
  int rounds = 0;  // guarded by the mutex
  together(4, [&](unsigned) {
    for (int round = 0; round != 300; ++round) {
      ASSERT_EQ(WaitForSingleObject(lock, patience_in_milliseconds), WAIT_OBJECT_0);
      ASSERT_EQ(WaitForSingleObject(lock, 0), WAIT_OBJECT_0);
      ++rounds;
      ASSERT_TRUE(ReleaseMutex(lock));
      ASSERT_TRUE(ReleaseMutex(lock));
    }
  });
  EXPECT_EQ(rounds, 1200);
}

TEST_F(mutexes, are_told_to_be_abandoned_as_often_as_owners_end) {
  const handle lock = mutex();
  std::atomic<unsigned> clean{0};
  std::atomic<unsigned> dirty{0};
  for (int round = 0; round != repetitions / 4; ++round) {
    together(4, [&](unsigned) {
      const DWORD result = WaitForSingleObject(lock, patience_in_milliseconds);
      (result == abandoned ? dirty : clean).fetch_add(1);
      ASSERT_TRUE(result == abandoned || result == WAIT_OBJECT_0) << result;
    });
  }
  EXPECT_EQ(clean.load(), 1u);
  EXPECT_EQ(dirty.load(), repetitions - 1u);
}

TEST_F(mutexes, that_another_thread_holds_time_out) {
  const handle lock = mutex(true);
  EXPECT_EQ(elsewhere([&] { return WaitForSingleObject(lock, 1); }), timed_out);
  EXPECT_TRUE(ReleaseMutex(lock));
  EXPECT_TRUE(is_free(lock));
}

}  // namespace
}  // namespace contract
