// The cache of small blocks that both layers use for one-off callbacks.
#include "support/block_cache.hpp"

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "allocations.hpp"
#include "safe.hpp"

namespace safe {
namespace {

using tidepool::support::allocate_block;
using tidepool::support::free_block;

class block_caches : public safe_test {};

TEST_F(block_caches, give_blocks_of_every_size_that_do_not_overlap) {
  struct block {
    unsigned char* memory;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<block> blocks;
  for (std::size_t size = 1; size <= 600; ++size) {
    auto* const memory = static_cast<unsigned char*>(allocate_block(size));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t), 0u);
    blocks.push_back({memory, size, static_cast<unsigned char>(size * 7)});
    std::memset(memory, blocks.back().mark, size);
  }
  for (const block& each : blocks) {
    for (std::size_t i = 0; i != each.size; ++i) {
      ASSERT_EQ(each.memory[i], each.mark);
    }
    free_block(each.memory, each.size);
  }
}

TEST_F(block_caches, give_a_freed_block_to_the_next_who_asks_on_the_same_thread) {
  if (!TIDEPOOL_BLOCK_CACHE) {
    GTEST_SKIP() << "the cache is off";
  }
  for (const std::size_t size : {1u, 32u, 33u, 64u, 128u, 256u}) {
    void* const first = allocate_block(size);
    free_block(first, size);
    EXPECT_EQ(allocate_block(size), first);
    free_block(first, size);
  }
}

TEST_F(block_caches, carry_blocks_from_the_thread_that_frees_them_to_the_one_that_allocates) {
  if (!TIDEPOOL_BLOCK_CACHE || !allocations_are_counted) {
    GTEST_SKIP() << "the cache is off, or the sanitizer has the heap";
  }
  constexpr std::size_t number = 1024;
  std::vector<void*> blocks(number);
  tidepool::event full(tidepool::reset_mode::automatic);
  tidepool::event empty(tidepool::reset_mode::automatic);
  constexpr int rounds = 20;
  std::jthread consumer([&] {
    for (int round = 0; round != rounds; ++round) {
      full.wait();
      for (void* const block : blocks) {
        free_block(block, 100);
      }
      empty.set();
    }
  });
  std::size_t allocations = 0;
  for (int round = 0; round != rounds; ++round) {
    const allocation_count here(allocation_count::of::this_thread);
    for (void*& block : blocks) {
      block = allocate_block(100);
      std::memset(block, round, 100);
    }
    allocations += here.count();
    full.set();
    empty.wait();
  }
  EXPECT_LT(allocations, 2 * number);  // of 20 times that many
}

TEST_F(block_caches, keep_nothing_of_threads_that_are_gone_from_the_others) {
  // Each thread leaves behind more than it took; those after it live on that. Under a leak checker this also shows that
  // a thread's end loses no block.
  for (int i = 0; i != 50; ++i) {
    std::jthread([] {
      std::vector<void*> blocks;
      for (int n = 0; n != 300; ++n) {
        blocks.push_back(allocate_block(64));
      }
      for (void* const block : blocks) {
        free_block(block, 64);
      }
    });
  }
}

/// Uses the cache when the thread's own variables are destroyed, in either order.
struct user_at_exit {
  user_at_exit() = default;
  user_at_exit(const user_at_exit&) = delete;
  user_at_exit& operator=(const user_at_exit&) = delete;
  ~user_at_exit() {
    for (const std::size_t size : {16u, 64u, 200u, 1000u}) {
      std::vector<void*> blocks;
      for (int n = 0; n != 300; ++n) {
        blocks.push_back(allocate_block(size));
        std::memset(blocks.back(), 1, size);
      }
      for (void* const each : blocks) {
        free_block(each, size);
      }
    }
    free_block(block, 64);
  }
  void* block = allocate_block(64);
};

TEST_F(block_caches, can_be_used_while_a_thread_ends) {
  for (int i = 0; i != 20; ++i) {
    std::jthread([i] {
      if (i % 2 == 0) {
        free_block(allocate_block(64), 64);  // the cache comes first, and so goes last
      }
      static thread_local user_at_exit user;
      static_cast<void>(user.block);
    });
  }
}

#ifndef _WIN32
TEST_F(block_caches, can_be_used_in_the_child_of_a_fork_whatever_others_were_doing) {
  if (!TIDEPOOL_BLOCK_CACHE) {
    GTEST_SKIP() << "the cache is off";
  }
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i != 3; ++i) {
    threads.emplace_back([&] {
      std::vector<void*> mine;
      while (!stop) {  // more at once than a thread keeps, so that they come from the depot and go back
        for (int n = 0; n != 300; ++n) {
          mine.push_back(allocate_block(64));
        }
        for (void* const block : mine) {
          free_block(block, 64);
        }
        mine.clear();
      }
    });
  }
  for (int i = 0; i != 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(static_cast<unsigned>(patience.count()));
      void* blocks[300];
      for (void*& block : blocks) {
        block = allocate_block(64);
      }
      for (void* const block : blocks) {
        free_block(block, 64);
      }
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  stop = true;
}
#endif

TEST_F(block_caches, serve_many_threads_at_once) {
  std::mutex mutex;
  std::vector<std::pair<void*, std::size_t>> exchanged;
  {
    std::vector<std::jthread> threads;
    for (unsigned thread = 0; thread != 4; ++thread) {
      threads.emplace_back([&, thread] {
        std::vector<std::pair<void*, std::size_t>> mine;
        for (unsigned n = 0; n != 5000; ++n) {
          const std::size_t size = 1 + (n * 37 + thread * 11) % 300;
          void* const block = allocate_block(size);
          std::memset(block, static_cast<int>(thread), size);
          mine.emplace_back(block, size);
          if (mine.size() == 200) {
            const std::lock_guard lock(mutex);
            mine.swap(exchanged);
          }
          if (n % 3 != 0 && !mine.empty()) {
            free_block(mine.back().first, mine.back().second);
            mine.pop_back();
          }
        }
        for (const auto& [block, size] : mine) {
          free_block(block, size);
        }
      });
    }
  }
  for (const auto& [block, size] : exchanged) {
    free_block(block, size);
  }
}

}  // namespace
}  // namespace safe
