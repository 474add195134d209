// A library whose objects are live from its start() on. See host.cpp.
#include <atomic>
#include <chrono>
#include <memory>
#include <tidepool/tidepool.hpp>

#ifdef _WIN32
#define PLUGIN_FUNCTION extern "C" __declspec(dllexport)
#else
#include "tidepool/win32/tpextensions.h"
#define PLUGIN_FUNCTION extern "C" __attribute__((visibility("default")))
#endif

namespace {

using namespace std::chrono_literals;

class everything {
 public:
  explicit everything(void (*ended)()) : ended_(ended) {
    work_.submit();
    timer_.set_after(0s);
    ticker_.start();
    wait_.arm();
  }

  ~everything() {
    ending_ = true;  // a work whose callback submits it runs until that stops
    work_.stop_and_drain();
    timer_.stop_and_drain();
    ticker_.stop_and_drain();
    wait_.stop_and_drain();
    ended_();
  }

  /// How many of the four have run.
  [[nodiscard]] int kinds() const { return (works_ != 0) + (firings_ != 0) + (ticks_ != 0) + (activations_ != 0); }

 private:
  void (*const ended_)();
  std::atomic<bool> ending_ = false;
  std::atomic<int> works_ = 0, firings_ = 0, ticks_ = 0, activations_ = 0;
  tidepool::work work_{[this] {
    ++works_;
    if (!ending_) {
      work_.submit();
    }
  }};
  tidepool::timer timer_{[this](tidepool::timer_firing& firing) {
    ++firings_;
    firing.rearm_after(0s);
  }};
  tidepool::periodic_timer ticker_{1ms, [this] { ++ticks_; }};
  tidepool::wait wait_{tidepool::event(tidepool::reset_mode::manual, true),
                       [this](tidepool::wait_activation& activation) {
                         ++activations_;
                         activation.rearm();
                       }};
};

#ifdef _WIN32
std::unique_ptr<everything> all;  // Windows lets nobody wait while a library is being unloaded: stop() comes before
#endif

}  // namespace

/// Calls `ended` when everything has been destroyed.
PLUGIN_FUNCTION const void* start(void (*ended)()) {
#ifdef _WIN32
  all = std::make_unique<everything>(ended);
  return all.get();
#else
  TidepoolSetPoolIdleTimeout(nullptr, 10);
  static const everything all(ended);
  return &all;
#endif
}

PLUGIN_FUNCTION int kinds(const void* of) { return static_cast<const everything*>(of)->kinds(); }

/// Cancels, with nothing queued, and so begins what is to repair the pools.
PLUGIN_FUNCTION void cancel() {
#ifndef TIDEPOOL_NO_SELF_HEAL
  tidepool::wait(tidepool::event(tidepool::reset_mode::manual), [] {}).try_cancel_pending();
#endif
}

PLUGIN_FUNCTION void stop() {
#ifdef _WIN32
  all.reset();
#endif
}
