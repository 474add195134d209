// tidepool's cleanup groups.
#pragma once

#include <tidepool/tidepool.hpp>

#include <chrono>

class tidepool_group {
 public:
  void create_work() {
    static_cast<void>(group_.create_work([] {}));
  }
  void create_timer() {
    group_.create_timer([] {}).set_after(std::chrono::hours(1));
  }
  void create_periodic_timer() {
    group_.create_periodic_timer(std::chrono::hours(1), [] {}).start();
  }
  void create_wait() {
    group_.create_wait(never_, [] {}).arm();
  }
  void close() { group_.close_members(false); }

 private:
  tidepool::event never_{tidepool::reset_mode::manual};
  tidepool::cleanup_group group_;
};
