// A pool of one thread of its own, on which the callbacks of higher priority go first.
// prints: high
// prints: normal
// prints: low
#include <cstdio>
#include <tidepool/tidepool.hpp>

int main() {
  tidepool::pool pool;
  pool.set_max_threads(1);

  tidepool::callback_environment normal;
  normal.set_pool(pool);
  tidepool::callback_environment high = normal;
  high.set_priority(tidepool::priority::high);
  tidepool::callback_environment low = normal;
  low.set_priority(tidepool::priority::low);

  // Holds the only thread until everything is queued, so that there is an order to see.
  tidepool::event holding{tidepool::reset_mode::manual};
  tidepool::event queued{tidepool::reset_mode::manual};
  tidepool::work hold{[&] {
                        holding.set();
                        queued.wait();
                      },
                      normal};
  hold.submit();
  holding.wait();

  tidepool::work unhurried{[] { std::puts("low"); }, low};
  tidepool::work usual{[] { std::puts("normal"); }, normal};
  tidepool::work urgent{[] { std::puts("high"); }, high};
  unhurried.submit();
  usual.submit();
  urgent.submit();
  queued.set();

  for (tidepool::work* each : {&hold, &unhurried, &usual, &urgent}) {
    each->stop_and_drain();
  }
}
