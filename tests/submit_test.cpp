// One-off callbacks.
#include <array>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <string>

#include "allocations.hpp"
#include "safe.hpp"

namespace safe {
namespace {

using tidepool::callback_instance;
using tidepool::priority;

class one_offs : public safe_test {};

TEST_F(one_offs, run_once) {
  tally ran;
  tidepool::submit([&] { ran.add(); });
  EXPECT_TRUE(ran.reaches(1));
  let_another_pool_work();
  EXPECT_EQ(ran.count(), 1u);
}

/// A callable of a given size that knows whether its bytes arrived whole.
template <std::size_t size, std::size_t alignment = alignof(void*)>
struct alignas(alignment) bytes_and_tally {
  explicit bytes_and_tally(tally& of) : ran(&of) { std::iota(std::begin(bytes), std::end(bytes), std::uint8_t{1}); }

  void operator()() const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % alignof(bytes_and_tally), 0u);
    std::uint8_t expected = 1;
    for (const std::uint8_t each : bytes) {
      EXPECT_EQ(each, expected++);
    }
    ran->add();
  }

  tally* ran;
  std::uint8_t bytes[size];
};

TEST_F(one_offs, bring_callables_of_every_size_and_alignment) {
  const private_pool pool(2);
  tidepool::callback_environment runs_long = pool.environment;
  runs_long.set_runs_long();
  tally ran;
  unsigned expected = 0;
  const auto submit = [&](auto callable) {
    tidepool::submit(callable);
    tidepool::submit(callable, pool.environment);
    tidepool::submit(callable, runs_long);
    expected += 3;
  };
  submit(bytes_and_tally<1>(ran));
  submit(bytes_and_tally<8>(ran));
  submit(bytes_and_tally<24>(ran));
  submit(bytes_and_tally<25>(ran));
  submit(bytes_and_tally<100>(ran));
  submit(bytes_and_tally<240>(ran));
  submit(bytes_and_tally<248>(ran));
  submit(bytes_and_tally<249>(ran));
  submit(bytes_and_tally<100'000>(ran));
  submit(bytes_and_tally<1, 16>(ran));
  submit(bytes_and_tally<1, 64>(ran));
  submit(bytes_and_tally<1, 4096>(ran));
  EXPECT_TRUE(ran.reaches(expected));
}

TEST_F(one_offs, of_mixed_sizes_arrive_whole_and_in_order) {
  // Many, so that they are queued together and shared out again.
  const private_pool pool(1);
  occupier busy(pool.environment);
  ASSERT_TRUE(busy.held());
  tally ran;
  std::vector<unsigned> order;
  constexpr unsigned number = 3000;
  const auto one_of_each = [&]<std::size_t... size>(std::index_sequence<size...>, unsigned i) {
    const auto submit = [&](auto callable) { tidepool::submit(callable, pool.environment); };
    (submit(bytes_and_tally<8 * size + 1>(ran)), ...);
    tidepool::submit([&order, i] { order.push_back(i); }, pool.environment);
  };
  for (unsigned i = 0; i != number; ++i) {
    one_of_each(std::make_index_sequence<4>(), i);
  }
  busy.release();
  EXPECT_TRUE(ran.reaches(4 * number));
  occupier behind(pool.environment);
  ASSERT_TRUE(behind.held());
  ASSERT_EQ(order.size(), number);
  for (unsigned i = 0; i != number; ++i) {
    ASSERT_EQ(order[i], i);
  }
}

TEST_F(one_offs, of_mixed_sizes_arrive_whole_when_workers_share_them) {
  const private_pool pool(3);
  tally ran;
  constexpr unsigned number = 300;
  for (unsigned i = 0; i != number; ++i) {
    tidepool::submit(
        [&ran, &pool] {
          for (int child = 0; child != 10; ++child) {
            tidepool::submit(bytes_and_tally<1>(ran), pool.environment);
            tidepool::submit(bytes_and_tally<24>(ran), pool.environment);
            tidepool::submit([&ran] { ran.add(); }, pool.environment);
          }
        },
        pool.environment);
  }
  EXPECT_TRUE(ran.reaches(30 * number));
}

std::atomic<tally*> where_functions_count;
void count_function() { where_functions_count.load()->add(); }
void count_function_with_instance(callback_instance&) { where_functions_count.load()->add(); }

TEST_F(one_offs, bring_callables_of_every_kind) {
  tally ran;
  where_functions_count = &ran;
  const std::function<void()> wrapped = [&] { ran.add(); };
  const private_pool pool(2);
  for (const bool on_pool : {false, true}) {
    const auto submit = [&](auto&& callable) {
      if (on_pool) {
        tidepool::submit(std::forward<decltype(callable)>(callable), pool.environment);
      } else {
        tidepool::submit(std::forward<decltype(callable)>(callable));
      }
    };
    const auto nothing_captured = [] { count_function(); };
    submit(count_function);
    submit(&count_function);
    submit(count_function_with_instance);
    submit(nothing_captured);
    submit(wrapped);
    submit(std::ref(wrapped));
    submit([&](callback_instance&) { ran.add(); });
    submit([&](callback_instance&) { return ran.add(), 5; });
    submit([&, text = std::string(300, 'x')](callback_instance&) { ran.add(text.size() == 300 ? 1 : 1000); });
    submit([&, pointer = std::make_unique<int>(1)] { ran.add(static_cast<unsigned>(*pointer)); });
    submit([&, pointer = std::make_unique<int>(1)](callback_instance&) { ran.add(static_cast<unsigned>(*pointer)); });
    submit([one = std::array<int, 3>{1, 0, 0}, &ran]() mutable { ran.add(static_cast<unsigned>(one[0]++)); });
    submit([pointer = std::make_shared<tally*>(&ran)] { (*pointer)->add(); });
  }
  EXPECT_TRUE(ran.reaches(26));
  let_another_pool_work();
  EXPECT_EQ(ran.count(), 26u);
}

TEST_F(one_offs, refuse_null_pointers_to_functions) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(tidepool::submit(null), std::errc::invalid_argument);
}

TEST_F(one_offs, destroy_their_callable_once_they_have_run_on_the_thread_they_ran_on) {
  const private_pool pool(2);
  for (const bool on_pool : {false, true}) {
    tally destroyed;
    std::thread::id ran_on;
    std::thread::id destroyed_on;
    auto callable = [&, last = on_destruction([&] {
                          destroyed_on = std::this_thread::get_id();
                          destroyed.add();
                        })] { ran_on = std::this_thread::get_id(); };
    if (on_pool) {
      tidepool::submit(std::move(callable), pool.environment);
    } else {
      tidepool::submit(std::move(callable));
    }
    EXPECT_TRUE(destroyed.reaches(1));
    EXPECT_EQ(destroyed_on, ran_on);
    EXPECT_NE(ran_on, std::this_thread::get_id());
    EXPECT_EQ(destroyed.count(), 1u);
  }
}

TEST_F(one_offs, may_use_the_pool_in_the_destructor_of_their_state) {
  tally ran;
  {
    auto object = std::make_unique<work>([&] { ran.add(); });
    object->submit();
    tidepool::submit(
        [&, object = std::move(object), last = on_destruction([&] { tidepool::submit([&] { ran.add(); }); })] {});
  }
  EXPECT_TRUE(ran.reaches(2));
}

TEST_F(one_offs, run_on_the_pool_of_their_environment) {
  const private_pool pool(1);
  std::atomic<contract::thread_number> only_thread = 0;
  work who([&] { only_thread = this_thread(); }, pool.environment);
  who.submit();
  who.stop_and_drain();
  tally ran;
  std::atomic<unsigned> elsewhere = 0;
  for (int i = 0; i != 10; ++i) {
    tidepool::submit(
        [&] {
          elsewhere += this_thread() != only_thread;
          ran.add();
        },
        pool.environment);
  }
  EXPECT_TRUE(ran.reaches(10));
  EXPECT_EQ(elsewhere, 0u);
}

TEST_F(one_offs, of_a_higher_priority_go_first) {
  const private_pool pool(1);
  journal order;
  {
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    for (int i = 0; i != 2; ++i) {
      tidepool::submit([&] { order.note('l'); }, pool.with(priority::low));
      tidepool::submit([&] { order.note('n'); }, pool.with(priority::normal));
      tidepool::submit([&] { order.note('h'); }, pool.with(priority::high));
    }
  }
  work last([] {}, pool.with(priority::low));
  last.submit();
  last.stop_and_drain();
  EXPECT_EQ(order.text(), "hhnnll");
}

TEST_F(one_offs, run_each_exactly_once_when_many_threads_submit_them) {
  constexpr unsigned threads = 4;
  constexpr unsigned each = 5'000;
  const private_pool pool(3);
  std::vector<std::atomic<unsigned char>> runs(threads * each);
  tally ran;
  {
    std::vector<std::jthread> submitters;
    for (unsigned thread = 0; thread != threads; ++thread) {
      submitters.emplace_back([&, thread] {
        for (unsigned n = 0; n != each; ++n) {
          const unsigned index = thread * each + n;
          tidepool::submit(
              [&, index] {
                ++runs[index];
                ran.add();
              },
              pool.environment);
        }
      });
    }
  }
  EXPECT_TRUE(ran.reaches(threads * each));
  for (const auto& count : runs) {
    EXPECT_EQ(count, 1);
  }
}

/// Submits two of its kind, down to a depth.
struct branch {
  tally* leaves;
  const tidepool::callback_environment* environment;
  int depth;

  void operator()() const {
    if (depth == 0) {
      leaves->add();
      return;
    }
    tidepool::submit(branch{leaves, environment, depth - 1}, *environment);
    tidepool::submit(branch{leaves, environment, depth - 1}, *environment);
  }
};

TEST_F(one_offs, may_submit_more_of_them) {
  const private_pool pool(3);
  tally leaves;
  tidepool::submit(branch{&leaves, &pool.environment, 13}, pool.environment);
  EXPECT_TRUE(leaves.reaches(1u << 13));
  work last([] {}, pool.environment);
  EXPECT_EQ(leaves.count(), 1u << 13);
}

// ---- memory --------------------------------------------------------------------------------------------

#if defined(__GLIBC__)

TEST_F(one_offs, no_larger_than_a_pointer_take_nothing_from_the_heap) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  const private_pool pool(1, 1);
  std::atomic<unsigned> ran = 0;
  const auto submit_and_wait = [&] {
    const unsigned before = ran;
    tidepool::submit([&ran] { ++ran; }, pool.environment);
    while (ran == before) {
      std::this_thread::yield();
    }
  };
  for (int i = 0; i != 10; ++i) {
    submit_and_wait();
  }
  const allocation_count everywhere(allocation_count::of::all_threads);
  for (int i = 0; i != 10; ++i) {
    submit_and_wait();
  }
  EXPECT_LE(everywhere.largest(), 256u);  // the engine's queue block at most, which serves several
}

TEST_F(one_offs, that_submit_others_use_the_memory_of_those_before) {
  if (!allocations_are_counted) {
    GTEST_SKIP() << "the sanitizer has the heap";
  }
  const private_pool pool(1, 1);
  tally ended;
  struct chain {
    tally* ended;
    const tidepool::callback_environment* environment;
    int left;
    char cargo[64] = {};
    void operator()() const {
      if (left == 0) {
        ended->add();
      } else {
        tidepool::submit(chain{ended, environment, left - 1}, *environment);
      }
    }
  };
  tidepool::submit(chain{&ended, &pool.environment, 10}, pool.environment);
  EXPECT_TRUE(ended.reaches(1));
  const allocation_count everywhere(allocation_count::of::all_threads);
  tidepool::submit(chain{&ended, &pool.environment, 10'000}, pool.environment);
  EXPECT_TRUE(ended.reaches(2));
  EXPECT_LT(everywhere.count(), 10u);
}

#endif

// ---- failure -------------------------------------------------------------------------------------------

TEST_F(one_offs, that_the_system_refuses_throw_and_destroy_the_callable) {
  SKIP_UNDER_WINE("accepts environments of any version");
  std::atomic<int> alive = 0;
  const private_pool pool(1);
  tidepool::callback_environment bad = pool.environment;
  tidepool::unsafe::native_environment(bad)->Version = 99;
  const std::error_code invalid_parameter(87, tidepool::win32_category());
  EXPECT_SYSTEM_ERROR(tidepool::submit([state = counted(alive)] {}, bad), invalid_parameter);
  EXPECT_SYSTEM_ERROR(tidepool::submit([state = counted(alive), text = std::string(500, 'x')] {}, bad),
                      invalid_parameter);
  EXPECT_SYSTEM_ERROR(tidepool::submit([&alive] { ++alive; }, bad), invalid_parameter);
  EXPECT_EQ(alive, 0);
}

struct throws_when_copied {
  explicit throws_when_copied(std::atomic<int>& of) : state(of) {}
  throws_when_copied(const throws_when_copied& other) : state(other.state) {
    throw std::runtime_error("can not be copied today");
  }
  void operator()() const { std::terminate(); }
  counted state;
  char cargo[100] = {};
};

TEST_F(one_offs, whose_callable_can_not_be_copied_pass_on_the_exception_and_leave_nothing_behind) {
  std::atomic<int> alive = 0;
  const private_pool pool(1);
  {
    const throws_when_copied callable(alive);
    EXPECT_THROW(tidepool::submit(callable), std::runtime_error);
    EXPECT_THROW(tidepool::submit(callable, pool.environment), std::runtime_error);
  }
  EXPECT_EQ(alive, 0);
  let_another_pool_work();
}

}  // namespace
}  // namespace safe
