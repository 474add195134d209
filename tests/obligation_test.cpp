// When an object owes a drain. What a destructor does about it: death/owed_drain_test.cpp.
#include <chrono>
#include <functional>

#include "contract/blocked_call.hpp"
#include "groups.hpp"
#include "io.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

template <class Object>
bool owes(const Object& object) {
  return tidepool::detail::access::owes_drain(object);
}

constexpr auto far_away = std::chrono::hours(1);

template <class Kind>
class obligation : public safe_test {
 protected:
  private_pool pool_{1};
};

TYPED_TEST_SUITE(obligation, member_kinds, kind_names);

template <class Kind>
constexpr bool settled_by_a_dispatch = std::is_same_v<Kind, timer_kind> || std::is_same_v<Kind, wait_kind>;

TYPED_TEST(obligation, does_not_come_with_the_object) {
  auto object = TypeParam::alone([] {}, this->pool_.environment);
  EXPECT_FALSE(owes(object));
}

TYPED_TEST(obligation, begins_when_the_object_goes_live_and_ends_with_its_drain_again_and_again) {
  auto object = TypeParam::alone([] {}, this->pool_.environment);
  for (int round = 0; round != 3; ++round) {
    occupier busy(this->pool_.environment);
    ASSERT_TRUE(busy.held());  // so that no dispatch comes in between
    TypeParam::start(object);
    EXPECT_TRUE(owes(object));
    busy.release();
    object.stop_and_drain();
    EXPECT_FALSE(owes(object));
  }
}

TYPED_TEST(obligation, is_settled_by_a_dispatch_where_that_uses_up_what_made_the_object_live) {
  tally begun;
  std::atomic<bool> owed = !settled_by_a_dispatch<TypeParam>;
  decltype(TypeParam::alone([] {}, this->pool_.environment))* its = nullptr;
  auto object = TypeParam::alone(
      [&] {
        owed = owes(*its);
        begun.add();
      },
      this->pool_.environment);
  its = &object;
  TypeParam::start(object);
  ASSERT_TRUE(begun.reaches(1));
  EXPECT_EQ(owed, !settled_by_a_dispatch<TypeParam>);
  object.stop_and_drain();
}

TYPED_TEST(obligation, begins_again_when_the_callback_has_the_object_go_live) {
  tally begun;
  decltype(TypeParam::alone([] {}, this->pool_.environment))* its = nullptr;
  std::atomic<bool> owed = false;
  auto object = TypeParam::alone(
      [&] {
        if (begun.count() == 0) {
          TypeParam::start(*its);
          owed = owes(*its);
        }
        begun.add();
      },
      this->pool_.environment);
  its = &object;
  TypeParam::start(object);
  EXPECT_TRUE(begun.reaches(2));
  EXPECT_TRUE(owed);
  object.stop_and_drain();
  EXPECT_FALSE(owes(object));
}

TYPED_TEST(obligation, is_settled_by_a_drain_that_covers_what_callbacks_have_made_live_meanwhile) {
  SKIP_WAITS_UNDER_WINE();
  for (int round = 0; round != 50; ++round) {
    tally begun;
    decltype(TypeParam::alone([] {}, this->pool_.environment))* its = nullptr;
    auto object = TypeParam::alone(
        [&] {
          if (begun.count() < 10) {
            TypeParam::start(*its);
          }
          begun.add();
        },
        this->pool_.environment);
    its = &object;
    TypeParam::start(object);
    ASSERT_TRUE(begun.reaches(static_cast<unsigned>(1 + round % 10)));
    object.stop_and_drain();
    EXPECT_FALSE(owes(object));
  }
}

TYPED_TEST(obligation, goes_with_the_callback_when_the_object_is_moved) {
  occupier busy(this->pool_.environment);
  ASSERT_TRUE(busy.held());
  auto object = TypeParam::alone([] {}, this->pool_.environment);
  TypeParam::start(object);
  auto other = std::move(object);
  EXPECT_TRUE(owes(other));
  busy.release();
  other.stop_and_drain();
  EXPECT_FALSE(owes(other));
}

class obligations : public safe_test {};

TEST_F(obligations, of_work_are_settled_by_all_that_leaves_nothing_queued_or_running) {
  const private_pool pool(1);
  work object([] {}, pool.environment);
  object.submit();
  object.wait_for_callbacks();
  EXPECT_FALSE(owes(object));
  object.submit();
  object.cancel_pending();
  EXPECT_FALSE(owes(object));
}

TEST_F(obligations, of_work_are_settled_by_a_drain_during_which_its_callback_submits_it) {
  const private_pool pool(1);
  tally begun;
  gate go_on;
  work* its = nullptr;
  work object(
      [&] {
        begun.add();
        if (begun.count() == 1) {
          EXPECT_TRUE(go_on.pass());
          its->submit();
        }
      },
      pool.environment);
  its = &object;
  object.submit();
  ASSERT_TRUE(begun.reaches(1));
  contract::blocked_call drain([&] { object.stop_and_drain(); });
  EXPECT_TRUE(drain.blocks());
  go_on.open();
  drain.join();
  EXPECT_EQ(begun.count(), 2u);
  EXPECT_FALSE(owes(object));
}

TEST_F(obligations, of_what_is_armed_are_settled_neither_by_waiting_nor_by_disarming) {
  const private_pool pool(1);
  timer once([] {}, pool.environment);
  once.set_after(far_away);
  once.wait_for_callbacks();
  once.cancel_pending();
  once.disarm();
  EXPECT_TRUE(owes(once));
  once.stop_and_drain();
  EXPECT_FALSE(owes(once));

  periodic_timer often(far_away, [] {}, pool.environment);
  often.start();
  often.wait_for_callbacks();
  often.cancel_pending();
  often.stop();
  EXPECT_TRUE(owes(often));
  often.stop_and_drain();
  EXPECT_FALSE(owes(often));

  wait never(tidepool::event(tidepool::reset_mode::manual), [] {}, pool.environment);
  never.arm();
  never.wait_for_callbacks();
  never.disarm();
  EXPECT_TRUE(owes(never));
  never.stop_and_drain();
  EXPECT_FALSE(owes(never));
}

TEST_F(obligations, begin_again_with_a_re_arm_that_is_carried_out) {
  const private_pool pool(1);
  tally fired;
  timer once(
      [&](tidepool::timer_firing& firing) {
        fired.add();
        firing.rearm_after(far_away);
      },
      pool.environment);
  once.set_after(0ms);
  ASSERT_TRUE(fired.reaches(1));
  once.wait_for_callbacks();
  EXPECT_TRUE(owes(once));
  once.stop_and_drain();
  EXPECT_FALSE(owes(once));

  tally activated;
  tidepool::event ready(tidepool::reset_mode::automatic, true);
  wait again(
      ready,
      [&](tidepool::wait_activation& activation) {
        activated.add();
        activation.rearm();
      },
      pool.environment);
  again.arm();
  ASSERT_TRUE(activated.reaches(1));
  again.wait_for_callbacks();
  EXPECT_TRUE(owes(again));
  again.stop_and_drain();
  EXPECT_FALSE(owes(again));
}

TEST_F(obligations, of_what_others_arm_during_a_drain_are_left_when_it_ends) {
  const private_pool pool(1);
  tally begun;
  gate go_on;
  periodic_timer often(
      far_away,
      [&] {
        begun.add();
        EXPECT_TRUE(go_on.pass());
      },
      pool.environment);
  often.start_after(0ms);
  ASSERT_TRUE(begun.reaches(1));
  std::jthread drain([&] { often.stop_and_drain(); });
  EXPECT_TRUE(eventually([&] { return !owes(often); }));  // it has begun
  often.start();
  EXPECT_TRUE(owes(often));
  go_on.open();
  drain.join();
  EXPECT_TRUE(owes(often));
  often.stop_and_drain();
  EXPECT_FALSE(owes(often));
}

TEST_F(obligations, are_settled_by_a_drain_though_the_callback_asks_for_more) {
  const private_pool pool(1);
  tally begun;
  gate go_on;
  timer once(
      [&](tidepool::timer_firing& firing) {
        begun.add();
        EXPECT_TRUE(go_on.pass());
        firing.rearm_after(far_away);
      },
      pool.environment);
  once.set_after(0ms);
  ASSERT_TRUE(begun.reaches(1));
  once.set_after(far_away);
  ASSERT_TRUE(owes(once));
  std::jthread drain([&] { once.stop_and_drain(); });
  EXPECT_TRUE(eventually([&] { return !owes(once); }));  // it has begun
  go_on.open();
  drain.join();
  EXPECT_FALSE(owes(once));
}

TEST_F(obligations, of_an_io_begin_with_a_request_and_end_with_a_run_down) {
  channel<pipe_kind> ends;
  EXPECT_FALSE(owes(ends.reader));
  text_answer read;
  pipe_kind::read(ends.reader, std::string(1, ' '), read.handler());
  EXPECT_TRUE(owes(ends.reader));
  write_and_wait<pipe_kind>(ends.writer, "x");
  expect_read(read.get(), "x");
  EXPECT_TRUE(owes(ends.reader)) << "a handler may still be running";
  ends.reader.run_down();
  EXPECT_FALSE(owes(ends.reader));
  ends.writer.stop_and_drain();
  EXPECT_FALSE(owes(ends.writer));
}

TEST_F(obligations, of_an_io_are_settled_by_an_end_that_covers_what_handlers_start_meanwhile) {
  for (int round = 0; round != 50; ++round) {
    channel<pipe_kind> ends;
    std::function<void(int)> next = [&](int left) {
      if (left != 0) {
        pipe_kind::write(ends.writer, std::string("x"), [&, left] { next(left - 1); });
      }
    };
    next(20);
    if (round % 2 == 0) {
      ends.writer.run_down();
    } else {
      ends.writer.stop_and_drain();
    }
    EXPECT_FALSE(owes(ends.writer));
  }
}

}  // namespace
}  // namespace safe
