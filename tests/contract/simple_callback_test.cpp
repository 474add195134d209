// One-off callbacks: TrySubmitThreadpoolCallback.
#include <atomic>

#include "contract/fixtures.hpp"

namespace {

using namespace contract;

class one_off : public contract_test {};

// Contract 7
TEST_F(one_off, a_callback_gets_an_instance_and_its_context) {
  struct arguments {
    PTP_CALLBACK_INSTANCE instance = nullptr;
    PVOID context = nullptr;
    gate ran;
  } noted;
  ASSERT_TRUE(TrySubmitThreadpoolCallback(
      [](PTP_CALLBACK_INSTANCE instance, PVOID context) {
        auto& mine = *static_cast<arguments*>(context);
        mine.instance = instance;
        mine.context = context;
        mine.ran.open();
      },
      &noted, nullptr));
  ASSERT_TRUE(noted.ran.pass());
  EXPECT_NE(noted.instance, nullptr);
  EXPECT_EQ(noted.context, &noted);
}

// Contract 7
TEST_F(one_off, each_runs_once) {
  const pool one{1};
  environment where{one};
  constexpr unsigned many = 2000;
  std::vector<std::atomic<int>> ran(many);
  for (unsigned i = 0; i != many; ++i) {
    ASSERT_TRUE(submit_one_off([&ran, i](PTP_CALLBACK_INSTANCE) { ++ran[i]; }, where));
  }
  drain_pool_of_one(where);
  for (const auto& count : ran) {
    EXPECT_EQ(count, 1);
  }
}

// Contract 7
TEST_F(one_off, all_run_when_many_threads_submit) {
  constexpr unsigned threads = 4;
  constexpr unsigned each = 1000;
  tally ran;
  std::vector<std::thread> submitters;
  for (unsigned i = 0; i != threads; ++i) {
    submitters.emplace_back([&] {
      for (unsigned j = 0; j != each; ++j) {
        EXPECT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.add(); }));
      }
    });
  }
  for (std::thread& submitter : submitters) {
    submitter.join();
  }
  EXPECT_TRUE(ran.reaches(threads * each));
}

// Contract 7
TEST_F(one_off, two_run_at_the_same_time) {
  tally arrived;
  tally finished;
  for (int i = 0; i != 2; ++i) {
    ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) {
      arrived.add();
      EXPECT_TRUE(arrived.reaches(2));
      finished.add();
    }));
  }
  EXPECT_TRUE(finished.reaches(2));
}

void CALLBACK grow_tree(PTP_CALLBACK_INSTANCE, PVOID context);

struct tree_node {
  tally& grown;
  TP_CALLBACK_ENVIRON* where;
  unsigned depth;
};

void CALLBACK grow_tree(PTP_CALLBACK_INSTANCE, PVOID context) {
  const std::unique_ptr<tree_node> node{static_cast<tree_node*>(context)};
  for (unsigned child = 0; child != 2 && node->depth != 0; ++child) {
    auto made = std::make_unique<tree_node>(tree_node{node->grown, node->where, node->depth - 1});
    EXPECT_TRUE(TrySubmitThreadpoolCallback(&grow_tree, made.get(), node->where));
    static_cast<void>(made.release());
  }
  node->grown.add();
}

// Contract 7
TEST_F(one_off, each_can_submit_two_more_to_a_depth_of_eleven) {
  tally grown;
  const pool two{2};
  environment where{two};
  auto root = std::make_unique<tree_node>(tree_node{grown, where, 11});
  ASSERT_TRUE(TrySubmitThreadpoolCallback(&grow_tree, root.get(), where));
  static_cast<void>(root.release());
  EXPECT_TRUE(grown.reaches((1u << 12) - 1));
  // Nothing runs twice: had any, more would have been counted by the time a pool of two is empty.
  occupier both{where, 2};
  ASSERT_TRUE(both.held());
  EXPECT_EQ(grown.count(), (1u << 12) - 1);
}

// Contract 2
TEST_F(one_off, the_environment_may_be_gone_before_the_callback_runs) {
  const pool one{1};
  environment where{one};
  occupier busy{where, 1};
  ASSERT_TRUE(busy.held());
  gate ran;
  {
    environment brief{one};
    ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) { ran.open(); }, brief));
    brief->Pool = nullptr;
    brief->Version = 0xABABABAB;
  }
  EXPECT_FALSE(ran.is_open());
  busy.release();
  EXPECT_TRUE(ran.pass());
}

// Contract 9
TEST_F(one_off, a_callback_can_submit_work_and_wait_for_it) {
  std::atomic<int> ran{0};
  work object{[&] { ++ran; }};
  int seen = 0;
  gate finished;
  ASSERT_TRUE(submit_one_off([&](PTP_CALLBACK_INSTANCE) {
    object.submit(7);
    object.wait();
    seen = ran;
    finished.open();
  }));
  ASSERT_TRUE(finished.pass());
  EXPECT_EQ(seen, 7);
}

}  // namespace
