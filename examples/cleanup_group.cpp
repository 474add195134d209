// A service and everything that runs for it, which ends as a unit.
// prints: stored 3 of 3 readings
// prints: too late
#include <chrono>
#include <cstdio>
#include <system_error>
#include <tidepool/tidepool.hpp>

using namespace std::chrono_literals;

class station {
 public:
  station() { watchdog_.start(); }

  ~station() {
    members_.close_members(false);  // lets queued callbacks run; from here on nothing uses what is below
    std::printf("stored %d of %d readings\n", stored_, taken_);
  }

  void take_reading() {
    ++taken_;
    store_.submit();
  }

  [[nodiscard]] tidepool::work_member flush() const { return flush_; }

 private:
  int taken_ = 0;
  int stored_ = 0;
  tidepool::pool one_ = one_thread();
  tidepool::callback_environment on_it_ = environment(one_);

  tidepool::cleanup_group members_;
  tidepool::work_member flush_ = members_.create_work([this] { ++stored_; }, on_it_);
  // A callback can use other members, and while the group is closed, too.
  tidepool::work_member store_ = members_.create_work([this] { flush_.submit(); }, on_it_);
  tidepool::periodic_timer_member watchdog_ =
      members_.create_periodic_timer(1h, [] { std::puts("still here"); }, on_it_);

  static tidepool::pool one_thread() {
    tidepool::pool made;
    made.set_max_threads(1);
    return made;
  }
  static tidepool::callback_environment environment(const tidepool::pool& where) {
    tidepool::callback_environment made;
    made.set_pool(where);
    return made;
  }
};

int main() {
  const tidepool::work_member flush = [] {
    station here;
    for (int i = 0; i != 3; ++i) {
      here.take_reading();
    }
    return here.flush();  // a handle names a member and keeps nothing alive
  }();

  try {
    flush.submit();
  } catch (const std::system_error& error) {
    std::puts(error.code() == std::errc::operation_not_permitted ? "too late" : error.what());
  }
}
