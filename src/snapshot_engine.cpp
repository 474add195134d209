// Snapshots on Linux: the engine tells.
#ifndef _WIN32

#include "snapshot_native.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::system {

namespace {

pool_kind kind_of(TIDEPOOL_POOL_KIND native) noexcept {
  switch (native) {
    case TidepoolDefaultPool: return pool_kind::process_default;
    case TidepoolPrivatePool: return pool_kind::own;
    case TidepoolFilePool: break;
  }
  return pool_kind::internal;
}

pool_snapshot snapshot_from(const TIDEPOOL_POOL_STATISTICS& native) {
  pool_snapshot result;
  result.id = reinterpret_cast<std::uintptr_t>(native.Pool);
  result.kind = kind_of(native.Kind);
  result.threads = native.Threads;
  result.idle_threads = native.IdleThreads;
  result.blocked_threads = native.BlockedThreads;
  result.may_create = native.MayCreate != FALSE;
  result.create_in_progress = native.StartingThreads != 0;
  result.scheduled = native.Scheduled != FALSE;
  result.minimum = native.Minimum;
  result.maximum = native.Maximum;
  result.concurrency = native.Concurrency;
  result.idle_timeout = std::chrono::milliseconds(native.IdleTimeout);
  result.port_depth = native.PortDepth;
  result.queued_callbacks = native.QueuedCallbacks;
  result.callbacks_run = native.CallbacksRun;
  result.nt = observation<nt_factory_flags>::unavailable("only Windows has them");
  return result;
}

}  // namespace

pool_snapshot snapshot_of(native::pool which) {
  TIDEPOOL_POOL_STATISTICS native{};
  TidepoolQueryPoolStatistics(which, &native);
  return snapshot_from(native);
}

snapshot take_snapshot() {
  std::vector<TIDEPOOL_POOL_STATISTICS> native(8);
  for (;;) {
    const DWORD found = TidepoolQueryPools(native.data(), static_cast<DWORD>(native.size()));
    const bool all = found <= native.size();
    native.resize(found);
    if (all) {
      break;
    }
  }
  std::vector<pool_snapshot> pools;
  pools.reserve(native.size());
  for (const TIDEPOOL_POOL_STATISTICS& each : native) {
    pools.push_back(snapshot_from(each));
  }
  return {std::move(pools), std::vector<port_snapshot>()};
}

}  // namespace tidepool::system

#endif
