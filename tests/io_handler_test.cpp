// Handlers: what may be one, where it runs, when it and its buffer are destroyed, what it costs.
#include <vector>

#include "allocations.hpp"
#include "io.hpp"

namespace safe {
namespace {

using tidepool::callback_instance;

class handlers : public safe_test {
 protected:
  channel<pipe_kind> ends_;

  void provide(std::size_t bytes = 1) { write_and_wait<pipe_kind>(ends_.writer, std::string(bytes, 'x')); }
};

TEST_F(handlers, take_the_result_by_value_or_by_reference_with_the_instance_or_nothing) {
  tally calls;
  io& reader = ends_.reader;
  using result = transfer<std::string>;
  const auto text = [] { return std::string(1, ' '); };
  reader.read(text(), [&](result given) { calls.add(given.bytes == 1); });
  reader.read(text(), [&](result&& given) { calls.add(given.bytes == 1); });
  reader.read(text(), [&](const result& given) { calls.add(given.bytes == 1); });
  reader.read(text(), [&](result& given) { calls.add(given.bytes == 1); });
  reader.read(text(), [&](auto given) { calls.add(given.bytes == 1); });
  reader.read(text(), [&](auto&& given, auto&&...) { calls.add(given.bytes == 1); });
  reader.read(text(), [&](result, callback_instance&) { calls.add(); });
  reader.read(text(), [&](result&, callback_instance&) noexcept { return calls.add(), 5; });
  reader.read(text(), [&] { calls.add(); });
  reader.read(text(), [&, owned = std::make_unique<int>(1)]() mutable { calls.add(static_cast<unsigned>(*owned)); });
  const std::function<void(const result&)> wrapped = [&](const result&) { calls.add(); };
  reader.read(text(), wrapped);
  provide(11);
  EXPECT_TRUE(calls.reaches(11));
  reader.run_down();
  EXPECT_EQ(calls.count(), 11u);
}

TEST_F(handlers, are_not_null) {
  void (*null)() = nullptr;
  EXPECT_SYSTEM_ERROR(ends_.reader.read(std::string(1, ' '), null), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(ends_.reader.accept(null), std::errc::invalid_argument);
  EXPECT_EQ(ends_.reader.outstanding(), 0u);
}

TEST_F(handlers, and_buffers_that_can_not_be_moved_without_an_exception_start_nothing_when_they_throw) {
  struct throws_when_moved {
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&&) { throw std::runtime_error("no"); }
    void operator()() const {}
  };
  EXPECT_THROW(ends_.reader.read(std::string(1, ' '), throws_when_moved()), std::runtime_error);
  EXPECT_EQ(ends_.reader.outstanding(), 0u);
}

TEST_F(handlers, run_on_the_pool_of_the_environment) {
  const private_pool pool(1);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  channel<pipe_kind> ends(pool.environment);
  text_answer read;
  text_answer refused;
  ends.reader.read(std::string(1, ' '), read.handler());
  ends.reader.read_at(0, std::string(1, ' '), refused.handler());
  ends.writer.write(std::string("x"), [] {});
  let_another_pool_work();
  EXPECT_FALSE(read.is_here());
  EXPECT_FALSE(refused.is_here());
  only_thread.release();
  expect_read(read.get(), "x");
  EXPECT_EQ(refused.get().error, std::errc::not_supported);
}

TEST_F(handlers, of_one_io_can_run_at_the_same_time) {
  tally inside;
  gate let_go;
  for (int i = 0; i != 2; ++i) {
    ends_.reader.read(std::string(1, ' '), [&] {
      inside.add();
      EXPECT_TRUE(let_go.pass());
    });
  }
  provide(1);
  EXPECT_TRUE(inside.reaches(1));
  provide(1);
  EXPECT_TRUE(inside.reaches(2));
  let_go.open();
  ends_.reader.run_down();
}

TEST_F(handlers, can_start_the_next_request) {
  constexpr unsigned rounds = 500;
  tally handled;
  std::function<void(std::string)> next = [&](std::string memory) {
    ends_.reader.read(std::move(memory), [&](transfer<std::string> result) {
      expect_read(result, "x");
      if (handled.count() + 1 != rounds) {
        next(std::move(result.buffer));
      }
      handled.add();
    });
  };
  next(std::string(1, ' '));
  for (unsigned i = 1; i <= rounds; ++i) {
    provide();
    ASSERT_TRUE(handled.reaches(i));
  }
  ends_.reader.run_down();
  EXPECT_EQ(handled.count(), rounds);
}

TEST_F(handlers, can_use_their_instance) {
  const tidepool::event returned(tidepool::reset_mode::manual);
  std::atomic<int> alive = 0;
  ends_.reader.read(std::string(1, ' '),
                    [&, state = counted(alive)](const transfer<std::string>&, callback_instance& instance) {
                      instance.set_event_when_returns(returned);
                      static_cast<void>(instance.may_run_long());
                    });
  EXPECT_EQ(alive, 1);
  provide();
  returned.wait();
  EXPECT_EQ(alive, 0);  // destroyed before the run is over
}

// ---- destruction ---------------------------------------------------------------------------------------

struct counted_buffer {
  explicit counted_buffer(std::atomic<int>& of) : count(of), bytes(1, ' ') {}
  char* data() { return bytes.data(); }
  [[nodiscard]] std::size_t size() const { return bytes.size(); }

  counted count;
  std::string bytes;
};

TEST_F(handlers, and_buffers_are_destroyed_after_the_call_on_its_thread_and_before_a_run_down_returns) {
  std::atomic<int> buffers = 0;
  journal order;
  std::thread::id ran_on;
  ends_.reader.read(counted_buffer(buffers), [&, last = on_destruction([&] {
                                                   EXPECT_EQ(std::this_thread::get_id(), ran_on);
                                                   order.note('d');
                                                 })](const transfer<counted_buffer>&) {
    ran_on = std::this_thread::get_id();
    EXPECT_EQ(buffers, 1);
    order.note('h');
  });
  EXPECT_EQ(buffers, 1);
  provide();
  ends_.reader.run_down();
  EXPECT_EQ(buffers, 0);
  EXPECT_EQ(order.text(), "hd");
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST_F(handlers, that_nobody_takes_the_buffer_from_free_it) {
  std::atomic<int> buffers = 0;
  for (int i = 0; i != 10; ++i) {
    ends_.reader.read(counted_buffer(buffers), [] {});
  }
  provide(10);
  ends_.reader.run_down();
  EXPECT_EQ(buffers, 0);
}

TEST_F(handlers, and_their_buffers_are_destroyed_outside_every_lock) {
  tally destroyed;
  const auto use_everything = [&] {
    // Each of these takes the lock of the io.
    static_cast<void>(ends_.reader.outstanding());
    static_cast<void>(ends_.reader.cancel(operation_id()));
    ends_.reader.cancel_all();
    ends_.reader.accept([] {});
    destroyed.add();
  };
  ends_.reader.read(std::string(1, ' '), [last = on_destruction(use_everything)] {});
  ends_.reader.accept([last = on_destruction(use_everything)] {});
  provide();
  EXPECT_TRUE(destroyed.reaches(2));
  ends_.reader.run_down();
}

TEST_F(handlers, can_destroy_other_ios) {
  auto other = std::make_unique<channel<pipe_kind>>();
  other->reader.read(std::string(1, ' '), [] {});
  tally destroyed;
  ends_.reader.read(std::string(1, ' '), [&] {
    other.reset();
    destroyed.add();
  });
  provide();
  EXPECT_TRUE(destroyed.reaches(1));
}

// ---- cost ----------------------------------------------------------------------------------------------

TEST_F(handlers, cost_one_allocation_a_request_at_most) {
  if (!allocations_are_counted || contract::under_wine()) {
    GTEST_SKIP() << "a sanitizer or Wine has the heap";
  }
  constexpr std::size_t requests = 200;
  tally handled;
  const auto read_all = [&] {
    for (std::size_t i = 0; i != requests; ++i) {
      ends_.reader.read(std::array<char, 1>{}, [&] { handled.add(); });
    }
    provide(requests);
    ends_.reader.run_down();
  };
  read_all();  // what grows once
  const allocation_count counter(allocation_count::of::this_thread);
  for (std::size_t i = 0; i != requests; ++i) {
    ends_.reader.read(std::array<char, 1>{}, [&] { handled.add(); });
  }
  EXPECT_LE(counter.count(), 2 * requests);  // the request and, where the system needs one, its own
  provide(requests);
  ends_.reader.run_down();
  EXPECT_EQ(handled.count(), 2 * requests);
}

}  // namespace
}  // namespace safe
