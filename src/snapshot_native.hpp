// What a platform has to tell for a snapshot.
#pragma once

#include "tidepool/native.hpp"
#include "tidepool/snapshot.hpp"

namespace tidepool::system {

snapshot take_snapshot();

/// Null: the default pool.
pool_snapshot snapshot_of(native::pool which);

}  // namespace tidepool::system
