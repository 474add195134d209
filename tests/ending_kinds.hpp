// The kinds of objects, behind the same few functions, so that what they promise alike is tested alike.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io.hpp"
#include "timers.hpp"

namespace safe {

/// A callback gets it, and calls it to have another one follow: it submits, re-arms, or starts the next request.
using again = std::function<void()>;
using ending_callback = std::function<void(const again&)>;

// Each `object` is made of a callback and an environment. start() leads to one callback, soon; stop_starting() undoes
// what has not led to one yet, and waits for nothing; cancel() drops what the kind can drop, and waits for what runs;
// drain() is the synchronous close.

struct ending_work {
  static constexpr const char* name = "work";
  static constexpr bool every_start_counts = true;     // as many callbacks as starts
  static constexpr bool drain_discards_again = false;  // what its callbacks ask for while it is drained

  class object {
   public:
    explicit object(ending_callback callback, const tidepool::callback_environment& where = {})
        : work_([this, callback = std::move(callback)] { callback([this] { start(); }); }, where) {}
    void start() { work_.submit(); }
    void cancel() { work_.cancel_pending(); }
    void drain() { work_.stop_and_drain(); }

   private:
    tidepool::work work_;
  };
};

struct ending_timer {
  static constexpr const char* name = "timer";
  static constexpr bool every_start_counts = false;
  static constexpr bool drain_discards_again = true;

  class object {
   public:
    explicit object(ending_callback callback, const tidepool::callback_environment& where = {})
        : timer_(
              [callback = std::move(callback)](tidepool::timer_firing& firing) {
                callback([&] { firing.rearm_after(std::chrono::seconds(0)); });
              },
              where) {}
    void start() { timer_.set_after(std::chrono::seconds(0)); }
    void cancel() {
      timer_.disarm();
      timer_.cancel_pending();
    }
    void drain() { timer_.stop_and_drain(); }

   private:
    tidepool::timer timer_;
  };
};

/// Its period is long: one start, one tick, unless a test asks for another period.
struct ending_periodic_timer {
  static constexpr const char* name = "periodic_timer";
  static constexpr bool every_start_counts = false;
  static constexpr bool drain_discards_again = true;

  class object {
   public:
    explicit object(ending_callback callback, const tidepool::callback_environment& where = {})
        : timer_(
              std::chrono::hours(1), [this, callback = std::move(callback)] { callback([this] { start(); }); }, where) {
    }
    void start() { timer_.start_after(std::chrono::seconds(0)); }
    void cancel() {
      timer_.stop();
      timer_.cancel_pending();
    }
    void drain() { timer_.stop_and_drain(); }

   private:
    tidepool::periodic_timer timer_;
  };
};

/// It waits for an event that is always set.
struct ending_wait {
  static constexpr const char* name = "wait";
  static constexpr bool every_start_counts = false;
  static constexpr bool drain_discards_again = true;

  class object {
   public:
    explicit object(ending_callback callback, const tidepool::callback_environment& where = {})
        : wait_(
              tidepool::event(tidepool::reset_mode::manual, true),
              [callback = std::move(callback)](tidepool::wait_activation& activation) {
                callback([&] { activation.rearm(); });
              },
              where) {}
    void start() { wait_.arm(); }
    void cancel() {  // it has no cancel_pending()
      wait_.disarm();
      wait_.wait_for_callbacks();
    }
    void drain() { wait_.stop_and_drain(); }

   private:
    tidepool::wait wait_;
  };
};

/// Reads of a file, which complete by themselves.
struct ending_io {
  static constexpr const char* name = "io";
  static constexpr bool every_start_counts = true;
  static constexpr bool drain_discards_again = false;

  class object {
   public:
    explicit object(ending_callback callback, const tidepool::callback_environment& where = {})
        : callback_(std::make_shared<ending_callback>(std::move(callback))),
          io_(tidepool::endpoint::open_file(content().path(), tidepool::access::read), where) {}
    void start() {
      io_.read_at(0, std::string(1, ' '), [this, callback = callback_] { (*callback)([this] { start(); }); });
    }
    void cancel() {
      io_.cancel_all();
      io_.run_down();
    }
    void drain() { io_.run_down(); }

   private:
    static const scratch_file& content() {
      static const scratch_file file("x");
      return file;
    }

    std::shared_ptr<ending_callback> callback_;  // goes with the last handler
    tidepool::io io_;
  };
};

/// Requests that the system refuses, whose handlers take another way to the pool.
struct ending_refused_io {
  static constexpr const char* name = "refused_io";
  static constexpr bool every_start_counts = true;
  static constexpr bool drain_discards_again = false;

  class object {
   public:
    explicit object(ending_callback callback, const tidepool::callback_environment& where = {})
        : callback_(std::make_shared<ending_callback>(std::move(callback))),
          io_(tidepool::endpoint::make_pipe().first, where) {}
    void start() {
      io_.accept([this, callback = callback_] { (*callback)([this] { start(); }); });
    }
    void cancel() {
      io_.cancel_all();
      io_.run_down();
    }
    void drain() { io_.run_down(); }

   private:
    std::shared_ptr<ending_callback> callback_;
    tidepool::io io_;
  };
};

using ending_kinds =
    testing::Types<ending_work, ending_timer, ending_periodic_timer, ending_wait, ending_io, ending_refused_io>;

struct ending_names {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::name;
  }
};

/// An object that is drained before it is destroyed, for tests whose subject is not the destructor.
template <class Kind>
class drained {
 public:
  template <class Callback>
  explicit drained(Callback callback, const tidepool::callback_environment& where = {})
      : object_(ending_callback(std::move(callback)), where) {}
  ~drained() { object_.drain(); }
  drained(const drained&) = delete;
  drained& operator=(const drained&) = delete;

  typename Kind::object* operator->() { return &object_; }
  typename Kind::object& operator*() { return object_; }

 private:
  typename Kind::object object_;
};

/// What a test of one kind needs: callbacks in two shapes, and what they say.
template <class Kind>
class ending_test : public safe_test {
 protected:
  using object_type = drained<Kind>;

  /// A callback that says that it is inside and stays until it is let go.
  auto stays() {
    return [this](const again&) {
      inside.add();
      EXPECT_TRUE(let_go.pass());
      finished.add();
    };
  }

  /// A callback that has another one follow as long as `more`.
  auto goes_on() {
    return [this](const again& once_more) {
      runs.enter();
      if (more) {
        once_more();
      }
      inside.add();
      runs.leave();
      finished.add();
    };
  }

  tally inside;
  gate let_go;
  tally finished;
  crowd runs;
  std::atomic<bool> more = false;
};

/// Takes a little while. Not by giving the processor away: on a busy machine it would come back much later.
inline void spin(int turns) {
  std::atomic<int> counter = 0;
  while (counter.fetch_add(1, std::memory_order_relaxed) < turns * 50) {
  }
}

/// For tests that drain a wait at the moment at which it activates.
#define SKIP_WAITS_UNDER_WINE(Kind)                                                                 \
  if (std::is_same_v<Kind, ending_wait>) {                                                          \
    SKIP_UNDER_WINE("a wait that has been disarmed can still take a signal that came before that"); \
  }                                                                                                 \
  static_assert(true, "requires a semicolon")

/// For tests in which one thread drains what another one cancels.
template <class Object>
void cancel_unless_under_wine(Object& object) {
  if (contract::under_wine()) {
    object.drain();  // Wine does not wake a thread that waits for what another one drops
  } else {
    object.cancel();
  }
}

}  // namespace safe
