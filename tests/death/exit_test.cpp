// The end of the process, with objects of every kind in every state. Each test runs in a process of its own, which has to
// come to its end by itself, with the status that it was meant to have.
#include <cstdlib>
#include <functional>

#include "ending_kinds.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;

/// What the standard error stream says when everything went as it should.
void say(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::fflush(stderr);
}

void require(bool condition, const char* what) {
  if (!condition) {
    say(what);
    std::_Exit(1);
  }
}

/// Nothing in a process whose test has not said otherwise may take longer.
void limit_the_time() {
  std::thread([] {
    std::this_thread::sleep_for(2 * patience);
    say("it does not come to its end");
    std::_Exit(1);
  }).detach();
}

/// An object that is live for as long as it is there: its callback asks for more as often as it runs, once in a while.
template <class Kind>
class live_object {
 public:
  explicit live_object(bool private_one) {
    if (private_one) {
      pool_.emplace(2);
    }
    object_.emplace(
        [this](const again& once_more) {
          calls_.add();
          std::this_thread::sleep_for(1ms);
          if (!ending_) {
            once_more();
          }
        },
        where());
    object_->start();
    require(calls_.reaches(2), "it does not run");
  }
  live_object(const live_object&) = delete;
  live_object& operator=(const live_object&) = delete;

  /// Lets the object go, and uses the pool once more.
  ~live_object() {
    ending_ = std::is_same_v<Kind, ending_work>;  // whose submissions are never discarded
    object_.reset();
    const unsigned after = calls_.count();
    tally calls;
    const auto note = [&](const again&) { calls.add(); };
    {
      drained<ending_work> work(note, where());
      drained<ending_timer> timer(note, where());
      drained<ending_periodic_timer> ticker(note, where());
      drained<ending_wait> wait(note, where());
      drained<ending_refused_io> io(note, where());
      work->start();
      timer->start();
      ticker->start();
      wait->start();
      io->start();
      tidepool::submit([&] { calls.add(); }, where());
      require(calls.reaches(6), "the pool can not be used any more");
      work->start();
      std::thread second([&] { work->drain(); });
      work->drain();
      second.join();
      require(calls.count() == 7, "a drain did not wait");
      work->cancel();
      timer->cancel();
      ticker->cancel();
      wait->cancel();
      io->cancel();
    }
    require(calls_.count() == after, "it still runs");
    say("it is over");
  }

 private:
  [[nodiscard]] tidepool::callback_environment where() const {
    return pool_ ? pool_->environment : tidepool::callback_environment();
  }

  std::optional<private_pool> pool_;
  std::atomic<bool> ending_ = false;
  tally calls_;
  std::optional<typename Kind::object> object_;
};

template <class Kind>
class exits_destructor : public testing::Test {};

TYPED_TEST_SUITE(exits_destructor, ending_kinds, ending_names);

constexpr auto as_it_should = "^it is over\r?\n$";

template <class Act>
void expect_exit(Act act) {
  for (const bool private_one : {false, true}) {
    EXPECT_EXIT(
        {
          limit_the_time();
          act(private_one);
          std::exit(7);
        },
        testing::ExitedWithCode(7), as_it_should)
        << (private_one ? "on a private pool" : "on the default pool");
  }
}

TYPED_TEST(exits_destructor, may_be_that_of_a_static_object) {
  expect_exit([](bool private_one) { static const live_object<TypeParam> object(private_one); });
}

TYPED_TEST(exits_destructor, may_be_called_by_an_exit_handler) {
  static live_object<TypeParam>* object;
  expect_exit([](bool private_one) {
    object = new live_object<TypeParam>(private_one);
    std::atexit([] { delete object; });
  });
}

#ifdef _WIN32
#define SKIP_ON_WINDOWS() \
  GTEST_SKIP() << "thread-local objects are destroyed with the loader's lock held, without which no thread can start"
#else
#define SKIP_ON_WINDOWS() static_assert(true, "requires a semicolon")
#endif

TYPED_TEST(exits_destructor, may_be_that_of_an_object_of_the_main_thread) {
  SKIP_ON_WINDOWS();
  expect_exit([](bool private_one) { static thread_local const live_object<TypeParam> object(private_one); });
}

TYPED_TEST(exits_destructor, may_be_that_of_an_object_of_another_thread) {
  SKIP_ON_WINDOWS();
  expect_exit([](bool private_one) {
    std::thread([&] { static thread_local const live_object<TypeParam> object(private_one); }).join();
  });
}

TYPED_TEST(exits_destructor, may_be_that_of_an_object_of_a_pool_thread) {
  SKIP_ON_WINDOWS();
  // The thread ends with its pool, and the object with the thread, on it and when it is no worker any more.
  expect_exit([](bool private_one) {
    const auto gone = std::make_shared<tally>();
    {
      const private_pool pool(1);
      tally made;
      tidepool::work maker(
          [&] {
            static thread_local const on_destruction last([gone] { gone->add(); });
            static thread_local const live_object<TypeParam> object(private_one);
            made.add();
          },
          pool.environment);
      maker.submit();
      require(made.reaches(1), "the object is not made");
      maker.stop_and_drain();
    }
    require(gone->reaches(1), "the object is not destroyed");
  });
}

TYPED_TEST(exits_destructor, may_be_that_of_a_static_object_when_a_callback_calls_exit) {
  // Of another object, which is never destroyed.
  for (const bool private_one : {false, true}) {
    EXPECT_EXIT(
        {
          limit_the_time();
          static const live_object<TypeParam> object(private_one);
          static auto* const leaked = new typename TypeParam::object([](const again&) { std::exit(7); });
          leaked->start();
          gate never;
          static_cast<void>(never.pass());
        },
        testing::ExitedWithCode(7), as_it_should);
  }
}

// ---- never destroyed -----------------------------------------------------------------------------------

/// One that is never destroyed, and whose callbacks run until the very end.
template <class Kind>
void leak_one_that_is_busy() {
  static tally* const calls = new tally;
  static auto* const leaked = new typename Kind::object([](const again& once_more) {
    calls->add();
    once_more();
  });
  leaked->start();
  require(calls->reaches(3), "it does not run");
}

template <class Kind>
class leaked_objects : public testing::Test {};

TYPED_TEST_SUITE(leaked_objects, ending_kinds, ending_names);

TYPED_TEST(leaked_objects, do_not_keep_the_process_from_its_end) {
  const auto end_by = [](auto call) {
    EXPECT_EXIT(
        {
          limit_the_time();
          leak_one_that_is_busy<TypeParam>();
          call();
        },
        testing::ExitedWithCode(7), "^$");
  };
  end_by([] { std::exit(7); });
  end_by([] { std::_Exit(7); });
#ifndef _WIN32
  end_by([] { std::quick_exit(7); });
#endif
}

TYPED_TEST(leaked_objects, may_end_the_process_in_their_callback) {
  const auto end_by = [](auto call) {
    EXPECT_EXIT(
        {
          limit_the_time();
          leak_one_that_is_busy<TypeParam>();
          static auto* const leaked = new typename TypeParam::object([call](const again&) { call(); });
          leaked->start();
          gate never;
          static_cast<void>(never.pass());
        },
        testing::ExitedWithCode(7), "^$");
  };
  end_by([] { std::exit(7); });
  end_by([] { std::_Exit(7); });
#ifndef _WIN32
  end_by([] { std::quick_exit(7); });
#endif
}

class exits : public testing::Test {};

TEST_F(exits, in_a_callback_of_a_static_object_end_with_the_message_that_it_would_wait_for_itself) {
  EXPECT_DEATH(
      {
        static tidepool::work object([] { std::exit(7); });
        object.submit();
        gate never;
        static_cast<void>(never.pass());
      },
      "tidepool: the work created at .*exit_test.cpp.* is being destroyed inside its own callback");
}

TEST_F(exits, with_armed_timers_and_waits_and_a_read_that_nobody_answers_leave_them) {
  EXPECT_EXIT(
      {
        limit_the_time();
        static const tidepool::event never(tidepool::reset_mode::manual);
        static auto* const timer = new tidepool::timer([] {});
        static auto* const ticker = new tidepool::periodic_timer(1ms, [] {});
        static auto* const wait = new tidepool::wait(never, [] {});
        static auto* const ends = new auto(endpoint::make_pipe());
        static auto* const pipe = new io(std::move(ends->first));
        timer->set_after(1h);
        ticker->start();
        wait->arm();
        pipe->read(std::string(1, ' '), [](const transfer<std::string>&) {});
        std::exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

TEST_F(exits, of_main_while_submissions_go_on_in_other_threads_are_no_different) {
  EXPECT_EXIT(
      {
        limit_the_time();
        tally calls;
        for (int i = 0; i != 2; ++i) {
          std::thread([&calls] {
            for (;;) {
              tidepool::submit([&calls] { calls.add(); });
            }
          }).detach();
        }
        require(calls.reaches(100), "nothing runs");
        std::exit(7);  // with calls on the stack of a thread that has not returned
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace safe
