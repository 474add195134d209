// Objects of every kind, made and used by the constructors of static objects, and destroyed by their destructors, after a
// main that knows nothing of it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <tidepool/tidepool.hpp>

namespace {

using namespace std::chrono_literals;

void require(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
  }
}

/// Destroyed after everything else.
struct last_word {
  ~last_word() { require(said, "the objects have not been destroyed"); }
  bool said = false;
} last;

class everything {
 public:
  everything() {
    start();
    const int before = calls_;
    work_.submit();
    tidepool::submit([this] { note(); });
    wait_until(before + 2);
  }

  ~everything() {
    start();
    work_.stop_and_drain();
    timer_.stop_and_drain();
    ticker_.stop_and_drain();
    wait_.stop_and_drain();
    pipe_.cancel_all();
    pipe_.run_down();
    last.said = true;
  }

  /// Uses each object, and waits until each has run.
  void start() {
    const int before = calls_;
    work_.submit();
    timer_.set_after(0s);
    ticker_.start_after(0s);
    wait_.arm();
    pipe_.accept([this] { note(); });  // is refused
    ready_.set();
    wait_until(before + 5);
  }

 private:
  void note() { ++calls_; }
  void wait_until(int wanted) {
    for (int i = 0; calls_ < wanted; ++i) {
      require(i != 20'000, "the callbacks do not run");
      std::this_thread::sleep_for(1ms);
    }
  }

  std::atomic<int> calls_ = 0;
  tidepool::event ready_{tidepool::reset_mode::automatic};
  tidepool::work work_{[this] { note(); }};
  tidepool::timer timer_{[this] { note(); }};
  tidepool::periodic_timer ticker_{1h, [this] { note(); }};
  tidepool::wait wait_{ready_, [this] { note(); }};
  tidepool::io pipe_{tidepool::endpoint::make_pipe().first};
} all;

}  // namespace

int main() {
  all.start();
  return 0;
}
