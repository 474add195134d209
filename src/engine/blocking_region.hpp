// Tells a pool that one of its workers is about to sleep inside a callback.
#pragma once

namespace tidepool::engine {

/// While one lives on a worker's thread, the worker does not count as running: what it had taken from the
/// queue goes back, and the pool may start another worker at once instead of finding out by observation.
/// On any other thread it does nothing. Costs a thread-local read when not on a worker.
class blocking_region {
 public:
  blocking_region() noexcept;
  ~blocking_region();
  blocking_region(const blocking_region&) = delete;
  blocking_region& operator=(const blocking_region&) = delete;

 private:
  bool excused_ = false;  // by this region, and not by one around it or by the pool
};

}  // namespace tidepool::engine
