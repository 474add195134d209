// Work objects: submitting and waiting.
#include <atomic>
#include <mutex>
#include <set>

#include "contract/fixtures.hpp"
#include "contract/threads.hpp"

namespace {

using namespace contract;

class work_object : public contract_test {};

struct arguments {
  tally ran;
  PTP_CALLBACK_INSTANCE instance = nullptr;
  PVOID context = nullptr;
  PTP_WORK object = nullptr;
};

void CALLBACK note_arguments(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK object) {
  auto& noted = *static_cast<arguments*>(context);
  noted.instance = instance;
  noted.context = context;
  noted.object = object;
  noted.ran.add();
}

// Contract 7
TEST_F(work_object, a_callback_gets_an_instance_its_context_and_its_object) {
  arguments noted;
  const PTP_WORK object = CreateThreadpoolWork(&note_arguments, &noted, nullptr);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  EXPECT_EQ(noted.ran.count(), 1u);
  EXPECT_NE(noted.instance, nullptr);
  EXPECT_EQ(noted.context, &noted);
  EXPECT_EQ(noted.object, object);
  CloseThreadpoolWork(object);
}

// Contract 7
TEST_F(work_object, a_null_context_is_passed_on) {
  static std::atomic<int> right;
  right = 0;
  const PTP_WORK object = CreateThreadpoolWork(
      [](PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK) { right += context == nullptr ? 1 : 0; }, nullptr, nullptr);
  ASSERT_NE(object, nullptr);
  SubmitThreadpoolWork(object);
  WaitForThreadpoolWorkCallbacks(object, FALSE);
  EXPECT_EQ(right, 1);
  CloseThreadpoolWork(object);
}

// Contract 7
TEST_F(work_object, a_callback_runs_on_a_thread_other_than_the_submitters) {
  thread_number runner = this_thread();
  work object{[&] { runner = this_thread(); }};
  object.submit();
  object.wait();
  EXPECT_NE(runner, this_thread());
}

// Contract 7
TEST_F(work_object, creating_an_object_runs_nothing) {
  const pool one{1};
  environment where{one};
  std::atomic<int> ran{0};
  work idle{[&] { ++ran; }, where};
  drain_pool_of_one(where);
  EXPECT_EQ(ran, 0);
}

// Contract 7
TEST_F(work_object, every_submission_runs_the_callback_once) {
  tally ran;
  work object{[&] { ran.add(); }};
  unsigned submitted = 0;
  for (const unsigned times : {1u, 2u, 3u, 100u, 1u, 20000u}) {
    object.submit(times);
    submitted += times;
    object.wait();
    EXPECT_EQ(ran.count(), submitted);
  }
}

// Contract 7
TEST_F(work_object, every_submission_runs_once_when_many_threads_submit_one_object) {
  constexpr unsigned threads = 4;
  constexpr unsigned each = 5000;
  std::atomic<unsigned> ran{0};
  work object{[&] { ++ran; }};
  std::vector<std::thread> submitters;
  for (unsigned i = 0; i != threads; ++i) {
    submitters.emplace_back([&] { object.submit(each); });
  }
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
  object.wait();
  EXPECT_EQ(ran, threads * each);
}

// Contract 7
TEST_F(work_object, every_submission_runs_once_when_many_objects_are_submitted_in_turn) {
  const pool two{2};
  environment where{two};
  constexpr unsigned objects = 50;
  constexpr unsigned each = 100;
  std::vector<std::atomic<unsigned>> ran(objects);
  std::vector<std::unique_ptr<work>> all;
  for (unsigned i = 0; i != objects; ++i) {
    all.push_back(std::make_unique<work>([&ran, i] { ++ran[i]; }, where));
  }
  for (unsigned turn = 0; turn != each; ++turn) {
    for (const auto& object : all) {
      object->submit();
    }
  }
  all.clear();
  for (const auto& count : ran) {
    EXPECT_EQ(count, each);
  }
}

// Contract 7
TEST_F(work_object, two_submissions_of_one_object_run_at_the_same_time) {
  tally arrived;
  work pair{[&] {
    arrived.add();
    EXPECT_TRUE(arrived.reaches(2));
  }};
  pair.submit(2);
  pair.wait();
  EXPECT_EQ(arrived.count(), 2u);
}

// Contract 7
TEST_F(work_object, as_many_submissions_of_one_object_run_at_once_as_the_pool_has_threads) {
  const pool four{4, 4};
  environment where{four};
  tally arrived;
  std::mutex mutex;
  std::set<thread_number> runners;
  work all{[&] {
             {
               const std::lock_guard lock{mutex};
               runners.insert(this_thread());
             }
             arrived.add();
             EXPECT_TRUE(arrived.reaches(4));
           },
           where};
  all.submit(4);
  all.wait();
  EXPECT_EQ(runners.size(), 4u);
}

// Contract 7
TEST_F(work_object, what_was_written_before_a_submission_is_seen_by_its_callback_and_back) {
  unsigned plain = 0;
  work object{[&] { ++plain; }};
  for (unsigned i = 0; i != 1000; ++i) {
    ++plain;
    object.submit();
    object.wait();
    ASSERT_EQ(plain, 2 * (i + 1));
  }
}

// Contract 1, 7
TEST_F(work_object, a_callback_can_submit_its_own_object) {
  tally ran;
  work* self = nullptr;
  work chain{[&] {
    ran.add();
    if (ran.count() < 2000) {
      self->submit();
    }
  }};
  self = &chain;
  chain.submit();
  EXPECT_TRUE(ran.reaches(2000));
  chain.wait();
  EXPECT_EQ(ran.count(), 2000u);
}

// Contract 7, 9
TEST_F(work_object, a_wait_covers_what_the_callbacks_it_waits_for_submit) {
  // Each submission is made before the callback that makes it has returned: the object is never without one.
  const pool two{2};
  environment where{two};
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> ran{0};
    work* self = nullptr;
    work chain{[&] {
                 if (++ran < 100) {
                   self->submit();
                 }
               },
               where};
    self = &chain;
    chain.submit();
    chain.wait();
    EXPECT_EQ(ran, 100);
  }
}

// Contract 7
TEST_F(work_object, two_callbacks_can_submit_each_others_objects) {
  tally ran;
  work* other = nullptr;
  work ping{[&] {
    ran.add();
    if (ran.count() < 2000) {
      other->submit();
    }
  }};
  work pong{[&] {
    ran.add();
    ping.submit();
  }};
  other = &pong;
  ping.submit();
  EXPECT_TRUE(ran.reaches(2000));
}

// Contract 7
TEST_F(work_object, a_callback_can_submit_many_objects_and_many_times) {
  const pool two{2};
  environment where{two};
  std::atomic<unsigned> ran{0};
  work leaf{[&] { ++ran; }, where};
  work branch{[&] { leaf.submit(10); }, where};
  work root{[&] { branch.submit(50); }, where};
  root.submit(4);
  root.wait();
  branch.wait();
  leaf.wait();
  EXPECT_EQ(ran, 2000u);
}

// Contract 7
TEST_F(work_object, an_object_can_be_made_submitted_and_closed_in_a_callback) {
  struct inner {
    static void CALLBACK run(PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK object) {
      static_cast<tally*>(context)->add();
      CloseThreadpoolWork(object);
    }
  };
  tally ran;
  work outer{[&] {
    const PTP_WORK made = CreateThreadpoolWork(&inner::run, &ran, nullptr);
    EXPECT_NE(made, nullptr);
    SubmitThreadpoolWork(made);
  }};
  outer.submit(100);
  EXPECT_TRUE(ran.reaches(100));
}

// Contract 9
TEST_F(work_object, waiting_for_an_object_that_was_never_submitted_returns) {
  work idle{[] {}};
  idle.wait();
  idle.cancel();
  idle.wait();
}

// Contract 9
TEST_F(work_object, a_wait_covers_submissions_that_have_not_started) {
  const pool one{1};
  environment where{one};
  std::atomic<int> ran{0};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  work queued{[&] { ++ran; }, where};
  queued.submit(10);
  gate about_to_wait;
  std::thread releaser{[&] {
    EXPECT_TRUE(about_to_wait.pass());
    busy.release();
  }};
  about_to_wait.open();
  queued.wait();
  EXPECT_EQ(ran, 10);
  releaser.join();
}

// Contract 9
TEST_F(work_object, a_wait_covers_a_callback_that_has_started) {
  gate started;
  gate about_to_wait;
  std::atomic<bool> finished{false};
  work running{[&] {
    started.open();
    EXPECT_TRUE(about_to_wait.pass());
    for (int i = 0; i != 100; ++i) {
      std::this_thread::yield();
    }
    finished = true;
  }};
  running.submit();
  ASSERT_TRUE(started.pass());
  about_to_wait.open();
  running.wait();
  EXPECT_TRUE(finished);
}

// Contract 9
TEST_F(work_object, several_threads_can_wait_for_one_object) {
  for (int round = 0; round != 20; ++round) {
    gate release;
    std::atomic<int> ran{0};
    work object{[&] {
      EXPECT_TRUE(release.pass());
      ++ran;
    }};
    object.submit(3);
    tally waiting;
    std::vector<std::thread> waiters;
    for (int i = 0; i != 4; ++i) {
      waiters.emplace_back([&] {
        waiting.add();
        object.wait();
        EXPECT_EQ(ran, 3);
      });
    }
    EXPECT_TRUE(waiting.reaches(4));
    release.open();
    for (std::thread& waiter : waiters) {
      waiter.join();
    }
  }
}

// Contract 9
TEST_F(work_object, a_callback_can_wait_for_another_objects_callbacks) {
  const pool two{2};
  environment where{two};
  std::atomic<int> ran{0};
  work inner{[&] { ++ran; }, where};
  int seen = 0;
  work outer{[&] {
               inner.submit(5);
               inner.wait();
               seen = ran;
             },
             where};
  outer.submit();
  outer.wait();
  EXPECT_EQ(seen, 5);
}

// Contract 9
TEST_F(work_object, a_wait_for_one_object_does_not_wait_for_another) {
  const pool two{2};
  environment where{two};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  tally ran;
  work quick{[&] { ran.add(); }, where};
  quick.submit();
  quick.wait();
  EXPECT_EQ(ran.count(), 1u);
}

}  // namespace
