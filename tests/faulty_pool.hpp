// A pool of the engine with the fault, as the safe layer's tests use it.
#pragma once

#include <chrono>
#include <tidepool/snapshot.hpp>

#include "engine/stall_fault.hpp"
#include "safe.hpp"

namespace safe {

/// A removal within `window` stalls it for certain.
struct faulty_pool {
  explicit faulty_pool(std::chrono::nanoseconds window) {
    tidepool::engine::inject_stall_fault(tidepool::unsafe::native_handle(pool), {window, 1, 1});
    environment.set_pool(pool);
  }

  [[nodiscard]] tidepool::pool_snapshot look() const { return tidepool::snapshot_of(pool); }

  tidepool::pool pool;
  tidepool::callback_environment environment;
  tidepool::event signalled{tidepool::reset_mode::manual, true};
};

}  // namespace safe
