// tidepool's objects without a group, destroyed one by one.
#include <tidepool/tidepool.hpp>

#include <chrono>
#include <vector>

#include "../harness/main.hpp"

namespace {

class objects {
 public:
  static constexpr const char* name = "tidepool_alone";

  void create_work() {
    work_.emplace_back([] {});
  }
  void create_timer() {
    timers_.emplace_back([] {}).set_after(std::chrono::hours(1));
  }
  void create_periodic_timer() {
    periodic_timers_.emplace_back(std::chrono::hours(1), [] {}).start();
  }
  void create_wait() {
    waits_.emplace_back(never_, [] {}).arm();
  }
  void close() {
    work_.clear();
    timers_.clear();
    periodic_timers_.clear();
    waits_.clear();
  }

 private:
  tidepool::event never_{tidepool::reset_mode::manual};
  std::vector<tidepool::work> work_;
  std::vector<tidepool::timer> timers_;
  std::vector<tidepool::periodic_timer> periodic_timers_;
  std::vector<tidepool::wait> waits_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<bench::none, bench::none, bench::none, bench::none, objects>(argc, argv);
}
