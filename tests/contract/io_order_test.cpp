// The order in which the callbacks of completed requests run. A pool of one thread makes it visible.
#include <deque>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

template <class Kind>
class io_order : public io_test {
 protected:
  const pool one_{1};
  environment where_{one_};
};
TYPED_TEST_SUITE(io_order, io_kinds);

// Contract 8
TYPED_TEST(io_order, the_first_to_complete_is_called_back_first) {
  SKIP_UNDER_WINE("I/O callbacks that are queued on a busy pool run mostly last in, first out");
  TypeParam channel;
  channel.provide(std::string(20, 'x'));
  std::deque<request> some;
  std::vector<OVERLAPPED*> expected;
  recorded_io io{channel.reader(), this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  for (std::size_t i = 0; i != 20; ++i) {
    some.emplace_back(std::size_t{1}, i);
    expected.push_back(&some.back());
    ASSERT_TRUE(under_way(io.start_read(channel.reader(), some.back())));
    ASSERT_EQ(result_of(channel.reader(), some.back(), TRUE), success(1));
  }
  busy.release();
  io.wait_for_callbacks();
  EXPECT_EQ(io.order(), expected);
}

// Contract 8
TYPED_TEST(io_order, callbacks_of_higher_priority_go_first) {
  TypeParam low_channel;
  TypeParam high_channel;
  low_channel.provide("x");
  high_channel.provide("x");
  request low_request{1};
  request high_request{1};
  environment low{this->one_};
  environment high{this->one_};
  journal order;
  io last{low_channel.reader(), [&] { order.note('l'); }, low.priority(TP_CALLBACK_PRIORITY_LOW)};
  io first{high_channel.reader(), [&] { order.note('h'); }, high.priority(TP_CALLBACK_PRIORITY_HIGH)};
  work middle{[&] { order.note('n'); }, this->where_};
  occupier busy{this->where_, 1};
  ASSERT_TRUE(busy.held());
  ASSERT_TRUE(under_way(last.start_read(low_channel.reader(), low_request)));
  ASSERT_TRUE(under_way(first.start_read(high_channel.reader(), high_request)));
  ASSERT_EQ(result_of(low_channel.reader(), low_request, TRUE), success(1));
  ASSERT_EQ(result_of(high_channel.reader(), high_request, TRUE), success(1));
  let_completions_arrive();
  middle.submit();
  busy.release();
  last.wait_for_callbacks();
  first.wait_for_callbacks();
  middle.wait();
  EXPECT_EQ(order.text(), "hnl");
}

// Contract 2
TYPED_TEST(io_order, callbacks_of_one_object_can_run_at_the_same_time) {
  const pool four{4, 4};
  environment where{four};
  TypeParam channel;
  channel.provide("xxxx");
  std::deque<request> some;
  tally inside;
  io object{channel.reader(),
            [&] {
              inside.add();
              EXPECT_TRUE(inside.reaches(4));
            },
            where};
  for (std::size_t i = 0; i != 4; ++i) {
    some.emplace_back(std::size_t{1}, i);
    ASSERT_TRUE(under_way(object.start_read(channel.reader(), some.back())));
  }
  EXPECT_TRUE(inside.reaches(4));
}

// Contract 2
TYPED_TEST(io_order, a_pool_of_one_thread_runs_one_callback_at_a_time) {
  TypeParam channel;
  channel.provide(std::string(50, 'x'));
  std::deque<request> some;
  crowd inside;
  tally ran;
  io object{channel.reader(),
            [&] {
              inside.enter();
              std::this_thread::yield();
              inside.leave();
              ran.add();
            },
            this->where_};
  for (std::size_t i = 0; i != 50; ++i) {
    some.emplace_back(std::size_t{1}, i);
    ASSERT_TRUE(under_way(object.start_read(channel.reader(), some.back())));
  }
  EXPECT_TRUE(ran.reaches(50));
  EXPECT_EQ(inside.peak(), 1u);
}

}  // namespace
