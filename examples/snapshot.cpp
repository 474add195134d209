// Why does a callback not run? Look at its pool.
// prints: threads 1, may have more: no, packets on the port 1
// prints: stalled: no
// not under Wine: it tells nothing of its pools
#include <cinttypes>
#include <cstdio>
#include <tidepool/tidepool.hpp>

void look_at(const tidepool::pool& pool) {
  const tidepool::pool_snapshot now = tidepool::snapshot_of(pool);
  if (!now.threads || !now.may_create || !now.port_depth) {
    std::printf("not available here: %s\n", now.port_depth.why_not().c_str());
    return;
  }
  std::printf("threads %" PRIu32 ", may have more: %s, packets on the port %" PRIu64 "\n", *now.threads,
              *now.may_create ? "yes" : "no", *now.port_depth);
  std::printf("stalled: %s\n", now.appears_stalled().value() ? "yes" : "no");
}

int main() {
  tidepool::pool pool;
  pool.set_max_threads(1);
  tidepool::callback_environment environment;
  environment.set_pool(pool);

  tidepool::event holding{tidepool::reset_mode::manual};
  tidepool::event looked{tidepool::reset_mode::manual};
  tidepool::work hold{[&] {
                        holding.set();
                        looked.wait();
                      },
                      environment};
  tidepool::work late{[] {}, environment};
  hold.submit();
  holding.wait();
  late.submit();

  look_at(pool);

  looked.set();
  hold.stop_and_drain();
  late.stop_and_drain();
}
