// What the trace costs, in nanoseconds. trace_compare runs it, of a build with the trace and of one without.
//
//   trace records   a clock read; a record, by one thread and by two at once
//   trace submit    a submission and its callback, with what TIDEPOOL_TRACE asks for
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <tidepool/tidepool.hpp>
#include <vector>

#include "trace/recorder.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double nanoseconds_since(clock_type::time_point began) {
  return std::chrono::duration<double, std::nano>(clock_type::now() - began).count();
}

template <class F>
double time_of(int count, F what) {
  const clock_type::time_point began = clock_type::now();
  for (int i = 0; i != count; ++i) {
    what();
  }
  return nanoseconds_since(began) / count;
}

void record() noexcept {
  using namespace tidepool::recorder;
  write(kind::event, action::set, nullptr, 0, 0);
}

void read_clock() noexcept { static_cast<void>(clock_type::now()); }

double time_of_two_at_once(int count, void (*what)() noexcept) {
  std::atomic<int> ready = 0;
  double times[2];
  std::vector<std::thread> threads;
  for (double& time : times) {
    threads.emplace_back([&ready, &time, count, what] {
      what();
      for (++ready; ready != 2;) {
      }
      time = time_of(count, what);
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  return std::max(times[0], times[1]);
}

void time_records() {
  constexpr int count = 200'000;
  tidepool::trace::enable(tidepool::trace::category::event);
  record();
  std::printf("clock %g\n", time_of(count, read_clock));
  std::printf("record %g\n", time_of(count, record));
  std::printf("clock_by_two %g\n", time_of_two_at_once(count, read_clock));
  std::printf("record_by_two %g\n", time_of_two_at_once(count, record));
}

void time_submissions() {
  constexpr int count = 500'000;
  tidepool::pool pool;
  pool.set_max_threads(1);
  tidepool::callback_environment environment;
  environment.set_pool(pool);
  int calls = 0;
  tidepool::work object([&calls] { ++calls; }, environment);
  object.submit();
  object.stop_and_drain();
  const clock_type::time_point began = clock_type::now();
  for (int i = 0; i != count; ++i) {
    object.submit();
  }
  object.stop_and_drain();
  std::printf("submit %g\n", nanoseconds_since(began) / count);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "records") == 0) {
    time_records();
  } else if (count == 2 && std::strcmp(arguments[1], "submit") == 0) {
    time_submissions();
  } else {
    std::fputs("usage: trace records|submit\n", stderr);
    return 2;
  }
  return 0;
}
