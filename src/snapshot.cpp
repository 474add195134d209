#include "tidepool/snapshot.hpp"

#include "native_environment.hpp"
#include "snapshot_native.hpp"
#include "teardown/fail_fast.hpp"
#include "tidepool/detail/access.hpp"

namespace tidepool {

observation<bool> pool_snapshot::appears_stalled() const {
  const auto why_not = [](const auto& figure) { return observation<bool>::unavailable(figure.why_not()); };
  if (!port_depth) {
    return why_not(port_depth);
  }
  if (!threads) {
    return why_not(threads);
  }
  for (const observation<bool>* each : {&may_create, &create_in_progress, &scheduled}) {
    if (!*each) {
      return why_not(*each);
    }
  }
  return *port_depth != 0 && *threads == 0 && *may_create && !*create_in_progress && !*scheduled;
}

snapshot snapshot::take() { return system::take_snapshot(); }

pool_snapshot snapshot_of(const pool& which) {
  const auto& native = detail::access::owner_of(which);
  require_not_moved_from(native, "snapshot_of was given a pool that has been moved from");
  return system::snapshot_of(native.get());
}

pool_snapshot snapshot_of(const callback_environment& environment) {
  return system::snapshot_of(native_for_creation(environment)->Pool);
}

pool_snapshot snapshot_of_default_pool() { return system::snapshot_of(nullptr); }

}  // namespace tidepool
