// Submitting, waiting and dropping by many threads at once, with exact accounting of what can be accounted for.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class work_stress : public contract_test {
 protected:
  enum class waiting { nobody, somebody };

  /// Three threads submit and one drops, while perhaps another waits. However many were dropped, at the end what
  /// has run does not exceed what was submitted, nothing is left over, and a known number runs exactly.
  static void submit_and_drop(waiting who) {
    const pool two{2};
    environment where{two};
    for (int round = 0; round != 10; ++round) {
      std::atomic<unsigned> ran{0};
      std::atomic<unsigned> submitted{0};
      std::atomic<bool> submitting{true};
      work object{[&] { ++ran; }, where};
      std::vector<std::thread> submitters;
      for (int i = 0; i != 3; ++i) {
        submitters.emplace_back([&] {
          for (unsigned j = 0; j != 300; ++j) {
            submitted += 3;
            object.submit(3);
          }
        });
      }
      std::vector<std::thread> others;
      others.emplace_back([&] {
        while (submitting) {
          object.cancel();
        }
      });
      if (who == waiting::somebody) {
        others.emplace_back([&] {
          while (submitting) {
            object.wait();
          }
        });
      }
      for (std::thread& submitter : submitters) {
        submitter.join();
      }
      submitting = false;
      for (std::thread& other : others) {
        other.join();
      }
      object.cancel();
      const unsigned settled = ran;
      EXPECT_LE(settled, submitted);
      object.submit(100);
      object.wait();
      EXPECT_EQ(ran, settled + 100);
    }
  }
};

// Contract 7, 9
TEST_F(work_stress, submissions_and_drops_by_many_threads_leave_nothing_over) { submit_and_drop(waiting::nobody); }

// Contract 7, 9
TEST_F(work_stress, submissions_waits_and_drops_by_many_threads_leave_nothing_over) {
  SKIP_UNDER_WINE("dropping the last submission does not wake another waiter");
  submit_and_drop(waiting::somebody);
}

// Contract 7, 9
TEST_F(work_stress, after_its_own_wait_each_of_many_submitting_threads_has_all_its_submissions_run) {
  // With several submitters a wait covers the others' submissions too, but at least the caller's own.
  const pool three{3};
  environment where{three};
  constexpr int threads = 4;
  std::atomic<unsigned> ran{0};
  work object{[&] { ++ran; }, where};
  std::atomic<unsigned> submitted{0};
  std::vector<std::thread> submitters;
  for (int i = 0; i != threads; ++i) {
    submitters.emplace_back([&] {
      for (int j = 0; j != 300; ++j) {
        object.submit(2);
        const unsigned at_least = submitted += 2;
        object.wait();
        EXPECT_GE(ran, at_least);
      }
    });
  }
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
  EXPECT_EQ(ran, submitted);
}

// Contract 7, 8
TEST_F(work_stress, submissions_at_every_priority_from_inside_and_outside_all_run) {
  const pool two{2};
  environment where{two};
  std::atomic<unsigned> ran{0};
  std::vector<std::unique_ptr<work>> leaves;
  for (const auto priority : {TP_CALLBACK_PRIORITY_HIGH, TP_CALLBACK_PRIORITY_NORMAL, TP_CALLBACK_PRIORITY_LOW}) {
    leaves.push_back(std::make_unique<work>([&] { ++ran; }, where.priority(priority)));
  }
  work root{[&] {
              for (const auto& leaf : leaves) {
                leaf->submit();
              }
            },
            where.priority(TP_CALLBACK_PRIORITY_NORMAL)};
  std::thread inside{[&] { root.submit(1000); }};
  std::thread outside{[&] {
    for (int i = 0; i != 1000; ++i) {
      for (const auto& leaf : leaves) {
        leaf->submit();
      }
    }
  }};
  inside.join();
  outside.join();
  root.wait();
  for (const auto& leaf : leaves) {
    leaf->wait();
  }
  EXPECT_EQ(ran, 6000u);
}

// Contract 7, 10
TEST_F(work_stress, objects_that_close_themselves_are_made_and_submitted_by_many_threads) {
  struct life {
    static void CALLBACK run(PTP_CALLBACK_INSTANCE, PVOID context, PTP_WORK object) {
      CloseThreadpoolWork(object);
      static_cast<tally*>(context)->add();
    }
  };
  const pool two{2};
  environment where{two};
  tally ran;
  std::vector<std::thread> makers;
  for (int i = 0; i != 3; ++i) {
    makers.emplace_back([&] {
      for (int j = 0; j != 500; ++j) {
        const PTP_WORK object = CreateThreadpoolWork(&life::run, &ran, where);
        EXPECT_NE(object, nullptr);
        SubmitThreadpoolWork(object);
      }
    });
  }
  for (std::thread& maker : makers) {
    maker.join();
  }
  EXPECT_TRUE(ran.reaches(1500));
}

}  // namespace
