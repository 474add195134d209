// Where threads sleep until something they cannot keep alive has come to rest.
#pragma once

#include <condition_variable>
#include <mutex>

namespace tidepool::engine {

/// A lock and a condition that outlive every object: many objects share one, chosen by address. A waker that
/// has changed an object under the lock need not touch it again to wake its waiters.
struct parking_place {
  std::mutex mutex;
  std::condition_variable changed;

  static parking_place& of(const void* object) noexcept;
  /// For the child of a fork.
  static void make_all_anew() noexcept;
};

}  // namespace tidepool::engine
