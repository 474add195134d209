// Destructors, against everything that can happen at the same time. Each of them drains by itself here; the rest of the
// suites about the end of objects drains first.
#include "ending_kinds.hpp"

namespace safe {
namespace {

// ---- a callback that is queued -------------------------------------------------------------------------

/// A callback is queued on the only thread of a pool, which is really held, and somebody ends its object.
template <class Kind>
class queued_callbacks : public safe_test {
 protected:
  template <class End>
  void expect_it_to_run_before(End end) {
    const private_pool pool(1);
    occupier only_thread(pool.environment);
    ASSERT_TRUE(only_thread.held());
    tally calls;
    std::atomic<bool> has_run = false;
    std::optional<typename Kind::object> object(
        std::in_place,
        [&](const again&) {
          has_run = true;
          calls.add();
        },
        pool.environment);
    object->start();
    let_due_times_come();
    tally ended;
    const std::jthread ender = begin([&] {
      end(object);
      EXPECT_TRUE(has_run);  // before the end returned
      ended.add();
    });
    EXPECT_EQ(calls.count(), 0u);
    EXPECT_EQ(ended.count(), 0u);
    only_thread.release();
    EXPECT_TRUE(ended.reaches(1));
    EXPECT_EQ(calls.count(), 1u);
    if (object) {
      object->drain();
    }
  }
};

template <class Kind>
class queued_callbacks_destructor : public queued_callbacks<Kind> {};

TYPED_TEST_SUITE(queued_callbacks, ending_kinds, ending_names);
TYPED_TEST_SUITE(queued_callbacks_destructor, ending_kinds, ending_names);

TYPED_TEST(queued_callbacks, run_before_a_drain_returns) {
  this->expect_it_to_run_before([](auto& object) { object->drain(); });
}

TYPED_TEST(queued_callbacks_destructor, lets_them_run_before_it_returns) {
  this->expect_it_to_run_before([](auto& object) { object.reset(); });
}

// ---- and everything else -------------------------------------------------------------------------------

template <class Kind>
class races_destructor : public safe_test {
 protected:
  using object_type = typename Kind::object;
};

TYPED_TEST_SUITE(races_destructor, ending_kinds, ending_names);

TYPED_TEST(races_destructor, waits_for_a_running_callback) {
  tally inside;
  gate let_go;
  std::atomic<bool> finished = false;
  std::optional<typename TestFixture::object_type> object(std::in_place, [&](const again&) {
    inside.add();
    EXPECT_TRUE(let_go.pass());
    finished = true;
  });
  object->start();
  ASSERT_TRUE(inside.reaches(1));
  tally destroyed;
  const std::jthread destroyer = begin([&] {
    object.reset();
    EXPECT_TRUE(finished);
    destroyed.add();
  });
  EXPECT_EQ(destroyed.count(), 0u);
  let_go.open();
  EXPECT_TRUE(destroyed.reaches(1));
}

TYPED_TEST(races_destructor, comes_at_any_moment_after_a_start) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  std::atomic<int> alive = 0;
  std::atomic<unsigned> calls = 0;
  std::atomic<unsigned> started = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&, i] {
        for (int n = 0; n != 100; ++n) {
          typename TestFixture::object_type object([&, state = std::make_shared<counted>(alive)](const again&) {
            EXPECT_GE(*state->alive, 1);
            ++calls;
          });
          for (int times = 0; times != (n + i) % 3; ++times) {
            object.start();
            ++started;
          }
          spin(n % 50);
        }
      });
    }
  }
  EXPECT_EQ(alive, 0);
  EXPECT_LE(calls, started);
  if (TypeParam::every_start_counts) {
    EXPECT_EQ(calls, started);
  }
  const unsigned after = calls;
  let_due_times_come();
  EXPECT_EQ(calls, after);
}

TYPED_TEST(races_destructor, brings_callbacks_that_always_ask_for_more_to_an_end) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  const bool until_they_stop = std::is_same_v<TypeParam, ending_work>;  // its submissions are never discarded
  for (int round = 0; round != 15; ++round) {
    tally calls;
    std::atomic<bool> more = true;
    std::atomic<bool> gone = false;
    std::optional<typename TestFixture::object_type> object(std::in_place, [&](const again& once_more) {
      EXPECT_FALSE(gone);
      if (more) {
        once_more();
      }
      calls.add();
    });
    object->start();
    EXPECT_TRUE(calls.reaches(3));
    tally destroyed;
    const std::jthread destroyer([&] {
      object.reset();
      gone = true;
      destroyed.add();
    });
    if (until_they_stop) {
      EXPECT_TRUE(calls.reaches(calls.count() + 5));
      EXPECT_EQ(destroyed.count(), 0u);
      more = false;
    }
    EXPECT_TRUE(destroyed.reaches(1));
    const unsigned after = calls.count();
    let_another_pool_work();
    EXPECT_EQ(calls.count(), after);
  }
}

TYPED_TEST(races_destructor, follows_a_drain_or_a_cancel) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  for (int round = 0; round != 60; ++round) {
    std::atomic<int> alive = 0;
    std::atomic<int> calls = 0;
    {
      typename TestFixture::object_type object(
          [&, state = std::make_shared<counted>(alive)](const again&) { ++calls; });
      object.start();
      if (round % 2 == 0) {
        object.drain();
      } else {
        object.cancel();
      }
      if (round % 3 == 0) {
        object.start();
      }
    }
    EXPECT_EQ(alive, 0);
    const int after = calls;
    let_another_pool_work(1);
    EXPECT_EQ(calls, after);
  }
}

TYPED_TEST(races_destructor, may_be_called_by_a_callback_of_another_object) {
  SKIP_WAITS_UNDER_WINE(TypeParam);
  const private_pool pool(2);
  tally calls;
  for (int round = 0; round != 60; ++round) {
    std::optional<typename TestFixture::object_type> inner(
        std::in_place, [&](const again&) { calls.add(); }, pool.environment);
    std::atomic<bool> gone = false;
    drained<TypeParam> outer(
        [&](const again&) {
          inner.reset();
          gone = true;
        },
        pool.environment);
    const unsigned before = calls.count();
    inner->start();
    if (round % 2 == 0) {
      EXPECT_TRUE(calls.reaches(before + 1));
    }
    outer->start();
    EXPECT_TRUE(eventually([&] { return gone.load(); }));
    outer->drain();
  }
}

// ---- what one kind only has ----------------------------------------------------------------------------

class waits_destructor : public safe_test {};
class periodic_timers_destructor : public safe_test {};
class ios_destructor : public safe_test {};

TEST_F(waits_destructor, does_not_mind_who_signals_meanwhile) {
  SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that");
  for (const auto mode : {tidepool::reset_mode::automatic, tidepool::reset_mode::manual}) {
    const tidepool::event ready(mode);
    std::atomic<bool> stop = false;
    const std::jthread signaller([&] {
      while (!stop) {
        ready.set();
        std::this_thread::yield();
      }
    });
    std::atomic<int> alive = 0;
    for (int round = 0; round != 300; ++round) {
      tally activations;
      {
        tidepool::wait object(ready, [&, state = counted(alive)](tidepool::wait_activation& activation) {
          EXPECT_EQ(*state.alive, 1);
          activations.add();
          activation.rearm();
        });
        object.arm();
        if (round % 3 != 0) {
          EXPECT_TRUE(activations.reaches(static_cast<unsigned>(round % 3)));
        }
      }
      ASSERT_EQ(alive, 0);
    }
    stop = true;
  }
}

TEST_F(waits_destructor, and_a_time_out_that_is_over_agree) {
  for (int round = 0; round != 60; ++round) {
    std::atomic<int> alive = 0;
    {
      tidepool::wait object(tidepool::event(tidepool::reset_mode::manual),
                            [state = counted(alive)](tidepool::wait_activation& activation) {
                              EXPECT_EQ(*state.alive, 1);
                              activation.rearm(std::chrono::microseconds(50));
                            });
      object.arm(std::chrono::microseconds(round % 5 * 20));
      spin(round % 50);
    }
    ASSERT_EQ(alive, 0);
  }
}

TEST_F(periodic_timers_destructor, brings_ticks_that_take_longer_than_the_period_to_an_end) {
  // Each tick takes until the next has begun: at every moment one of them is running or queued.
  tally begun;
  gate over;
  std::optional<tidepool::periodic_timer> object(std::in_place, std::chrono::milliseconds(1), [&] {
    begun.add();
    const unsigned mine = begun.count();
    EXPECT_TRUE(eventually([&] { return begun.count() > mine || over.is_open(); }));
  });
  object->start();
  ASSERT_TRUE(begun.reaches(3));
  std::atomic<bool> destroyed = false;
  const std::jthread destroyer([&] {
    object.reset();
    destroyed = true;
  });
  // The destructor brings the ticks to an end; the last one has no successor to wait for, and needs a hand.
  EXPECT_TRUE(eventually([&] {
    const unsigned before = begun.count();
    let_due_times_come();
    return destroyed || begun.count() == before;
  }));
  over.open();
  EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
  const unsigned after = begun.count();
  let_due_times_come();
  EXPECT_EQ(begun.count(), after);
}

TEST_F(ios_destructor, and_a_peer_that_answers_or_goes_agree) {
  for (int round = 0; round != 100; ++round) {
    auto [first, second] = endpoint::make_pipe();
    std::atomic<int> alive = 0;
    std::atomic<int> handled = 0;
    std::optional<io> peer(std::in_place, std::move(second));
    {
      io object(std::move(first));
      for (int i = 0; i != 4; ++i) {
        object.read(std::string(1, ' '), [&, state = counted(alive)](const transfer<std::string>&) { ++handled; });
      }
      const std::jthread other([&] {
        if (round % 2 == 0) {
          peer->write(std::string("xx"), [] {});
          peer->run_down();
        }
        peer.reset();
      });
      spin(round % 50);
    }
    EXPECT_EQ(handled, 4);
    EXPECT_EQ(alive, 0);
  }
}

TEST_F(ios_destructor, discards_requests_whose_destructor_may_use_the_io) {
  for (int round = 0; round != 20; ++round) {
    auto [first, second] = endpoint::make_pipe();
    std::optional<io> object(std::in_place, std::move(first));
    io& use = *object;
    tally inside;
    tally discarded;
    use.accept([&] {
      inside.add();
      // Until the destructor has begun, what is started is accepted, and refused by the system.
      EXPECT_TRUE(eventually([&] {
        on_destruction last([&] {  // each of these takes the lock of the io
          static_cast<void>(use.outstanding());
          static_cast<void>(use.cancel(operation_id()));
          use.cancel_all();
          discarded.add();
        });
        return !use.accept([kept = std::move(last)] {});
      }));
    });
    ASSERT_TRUE(inside.reaches(1));
    object.reset();
    EXPECT_GE(discarded.count(), 1u);
  }
}

}  // namespace
}  // namespace safe
