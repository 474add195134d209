// What the destructor of a callback's state may do: everything. It runs outside every lock, when no callback runs any more.
#include "ending_kinds.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

/// Whatever the destructor of the state is to do.
using last_act = on_destruction<std::function<void()>>;

// ---- an object with a state ----------------------------------------------------------------------------

// Each `live` makes an object whose state does `act` when it is destroyed. The object is live: what would lead to its
// callback has been done, and does so if `runs`, or never will; for an io, its handler is the state.

struct work_with_state {
  static constexpr const char* name = "work";
  work object;
  work_with_state(last_act act, bool runs, const tidepool::callback_environment& where)
      : object([kept = std::move(act)] {}, where) {
    if (runs) {
      object.submit();
    }
  }
  void drain() { object.stop_and_drain(); }
};

struct timer_with_state {
  static constexpr const char* name = "timer";
  timer object;
  timer_with_state(last_act act, bool runs, const tidepool::callback_environment& where)
      : object([kept = std::move(act)] {}, where) {
    object.set_after(runs ? 0s : 1h);
  }
  void drain() { object.stop_and_drain(); }
};

struct periodic_timer_with_state {
  static constexpr const char* name = "periodic_timer";
  periodic_timer object;
  periodic_timer_with_state(last_act act, bool runs, const tidepool::callback_environment& where)
      : object(1ms, [kept = std::move(act)] {}, where) {
    object.start_after(runs ? 0s : 1h);
  }
  void drain() { object.stop_and_drain(); }
};

struct wait_with_state {
  static constexpr const char* name = "wait";
  wait object;
  wait_with_state(last_act act, bool runs, const tidepool::callback_environment& where)
      : object(tidepool::event(tidepool::reset_mode::manual, runs), [kept = std::move(act)] {}, where) {
    object.arm();
  }
  void drain() { object.stop_and_drain(); }
};

/// The state goes when the read is over, on the pool's thread.
struct io_with_state {
  static constexpr const char* name = "io";
  std::pair<endpoint, endpoint> ends = endpoint::make_pipe();
  io peer;
  io object;
  io_with_state(last_act act, bool runs, const tidepool::callback_environment& where)
      : peer(std::move(ends.second)), object(std::move(ends.first), where) {
    object.read(std::string(1, ' '), [kept = std::move(act)] {});
    if (runs) {
      peer.write(std::string("x"), [] {});
    }
  }
  void drain() {
    peer.run_down();
    object.cancel_all();
    object.run_down();
  }
};

/// The state goes when the run is over, on the pool's thread.
struct one_off_with_state {
  static constexpr const char* name = "one_off";
  tidepool::event over{tidepool::reset_mode::manual};
  one_off_with_state(last_act act, bool, const tidepool::callback_environment& where) {
    tidepool::submit([kept = std::move(act),
                      over = over](tidepool::callback_instance& instance) { instance.set_event_when_returns(over); },
                     where);
  }
  void drain() { EXPECT_TRUE(over.wait_for(patience)); }
};

using owners = testing::Types<work_with_state, timer_with_state, periodic_timer_with_state, wait_with_state,
                              io_with_state, one_off_with_state>;

template <class Owner>
class states : public safe_test {
 protected:
  /// Makes an object, drains and destroys it, and sees that the destructor of its state has done `act`, once.
  void expect_done(const std::function<void()>& act, const tidepool::callback_environment& where = {}) {
    for (const bool runs : {false, true}) {
      tally done;
      {
        Owner owner(last_act([&] {
                      act();
                      done.add();
                    }),
                    runs, where);
        owner.drain();
      }
      EXPECT_EQ(done.count(), 1u);
    }
  }
};

TYPED_TEST_SUITE(states, owners, ending_names);

/// The same, and the destructor of the object drains.
template <class Owner>
class states_destructor : public states<Owner> {
 protected:
  void expect_done_by_destructor(const std::function<void()>& act, const tidepool::callback_environment& where = {}) {
    for (const bool runs : {false, true}) {
      tally done;
      {
        const Owner owner(last_act([&] {
                            act();
                            done.add();
                          }),
                          runs, where);
        if (std::is_same_v<Owner, one_off_with_state>) {
          EXPECT_TRUE(done.reaches(1));  // it has no destructor that waits
        }
      }
      EXPECT_EQ(done.count(), 1u);
    }
  }
};

TYPED_TEST_SUITE(states_destructor, owners, ending_names);

// ---- what the destructor of the state does -------------------------------------------------------------

TYPED_TEST(states, may_submit_to_their_pool_and_to_others) {
  const private_pool here(2);
  const private_pool there(1);
  for (const auto& where : {here.environment, tidepool::callback_environment()}) {
    this->expect_done(
        [&] {
          for (const auto& to : {here.environment, there.environment, tidepool::callback_environment()}) {
            tally calls;
            tidepool::submit([&] { calls.add(); }, to);
            work again([&] { calls.add(); }, to);
            again.submit();
            again.stop_and_drain();
            EXPECT_TRUE(calls.reaches(2));
          }
        },
        where);
  }
}

template <class Kind>
void destroy_one_that_is_live(const tidepool::callback_environment& where) {
  tally calls;
  std::optional<typename Kind::object> other(std::in_place, [&](const again&) { calls.add(); }, where);
  other->start();
  EXPECT_TRUE(calls.reaches(1));
  other->start();
  other->drain();
  other.reset();
}

TYPED_TEST(states, may_make_use_and_destroy_objects_of_every_kind) {
  const private_pool pool(2);
  this->expect_done(
      [&] {
        destroy_one_that_is_live<ending_work>(pool.environment);
        destroy_one_that_is_live<ending_timer>(pool.environment);
        destroy_one_that_is_live<ending_periodic_timer>(pool.environment);
        destroy_one_that_is_live<ending_wait>(pool.environment);
        destroy_one_that_is_live<ending_io>(pool.environment);
        destroy_one_that_is_live<ending_refused_io>(pool.environment);
      },
      pool.environment);
}

TYPED_TEST(states, may_signal_what_a_wait_waits_for) {
  const private_pool pool(2);
  const tidepool::event ready(tidepool::reset_mode::automatic);
  tally activations;
  wait listener(
      ready,
      [&](tidepool::wait_activation& activation) {
        activation.rearm();
        activations.add();
      },
      pool.environment);
  listener.arm();
  this->expect_done(
      [&] {
        const unsigned before = activations.count();
        ready.set();
        EXPECT_TRUE(activations.reaches(before + 1));
      },
      pool.environment);
  listener.stop_and_drain();
}

TYPED_TEST(states, may_start_requests) {
  const private_pool pool(2);
  auto [first, second] = endpoint::make_pipe();
  io reader(std::move(first), pool.environment);
  io writer(std::move(second), pool.environment);
  this->expect_done(
      [&] {
        text_answer read;
        reader.read(std::string(1, ' '), read.handler());
        writer.write(std::string("x"), [] {});
        expect_read(read.get(), "x");
      },
      pool.environment);
  writer.run_down();
  reader.run_down();
}

TYPED_TEST(states, may_be_the_last_to_know_a_pool) {
  for (const bool their_own : {true, false}) {
    for (const bool runs : {false, true}) {
      auto pool = std::make_shared<private_pool>(2);
      const tidepool::callback_environment where = their_own ? pool->environment : tidepool::callback_environment();
      tally done;
      {
        last_act act([&done, mine = pool]() mutable {
          tally calls;
          tidepool::submit([&] { calls.add(); }, mine->environment);
          EXPECT_TRUE(calls.reaches(1));
          mine.reset();
          done.add();
        });
        pool.reset();
        TypeParam owner(std::move(act), runs, where);
        owner.drain();
      }
      EXPECT_EQ(done.count(), 1u);
    }
  }
}

TYPED_TEST(states, may_drop_the_last_reference_to_the_object_that_owns_them_from_others) {
  // Two objects, each of whose states holds the next one: the end of the first is the end of all.
  const private_pool pool(2);
  std::atomic<int> gone = 0;
  this->expect_done(
      [&] {
        auto third = std::make_shared<timer>([last = last_act([&] { ++gone; })] {}, pool.environment);
        auto second = std::make_shared<work>([third, last = last_act([&] { ++gone; })] {}, pool.environment);
        third->set_after(1h);
        second->submit();
        second->stop_and_drain();
        third->stop_and_drain();
        third.reset();
        EXPECT_EQ(gone % 2, 0);
        second.reset();
      },
      pool.environment);
  EXPECT_EQ(gone, 4);
}

// ---- destructors that drain by themselves ---------------------------------------------------------------

TYPED_TEST(states_destructor, may_submit_and_let_destructors_of_every_kind_drain) {
  const private_pool pool(2);
  this->expect_done_by_destructor(
      [&] {
        tally calls;
        const auto note = [&](const again&) { calls.add(); };
        {
          ending_work::object work(note, pool.environment);
          ending_timer::object timer(note, pool.environment);
          ending_periodic_timer::object ticker(note, pool.environment);
          ending_wait::object wait(note, pool.environment);
          ending_io::object io(note, pool.environment);
          ending_refused_io::object refused(note, pool.environment);
          work.start();
          timer.start();
          ticker.start();
          wait.start();
          io.start();
          refused.start();
        }
        EXPECT_GE(calls.count(), 3u);  // the work and both requests; times and signals may not have come
        tidepool::submit([] {}, pool.environment);
      },
      pool.environment);
}

TYPED_TEST(states_destructor, come_when_no_callback_runs_any_more) {
  // One that is running is held until the destructor of the object has begun and waits.
  tally inside;
  gate let_go;
  std::atomic<bool> finished = false;
  const private_pool pool(1);
  work holder(
      [&] {
        inside.add();
        EXPECT_TRUE(let_go.pass());
        finished = true;
      },
      pool.environment);
  holder.submit();
  ASSERT_TRUE(inside.reaches(1));
  tally done;
  std::optional<TypeParam> owner(std::in_place, last_act([&] {
                                   EXPECT_TRUE(finished);  // it comes after, on the only thread
                                   done.add();
                                 }),
                                 true, pool.environment);
  let_due_times_come();
  tally destroyed;
  const std::jthread destroyer = begin([&] {
    owner.reset();
    destroyed.add();
  });
  EXPECT_EQ(done.count(), 0u);
  let_go.open();
  EXPECT_TRUE(done.reaches(1));
  EXPECT_TRUE(destroyed.reaches(1));
  holder.stop_and_drain();
}

}  // namespace
}  // namespace safe
