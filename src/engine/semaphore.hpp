// The semaphore: a count that waits take from.
#pragma once

#include "engine/dispatcher_object.hpp"
#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

class semaphore_object final : public dispatcher_object {
 public:
  static constexpr object_kind kind_of_object = object_kind::semaphore;

  /// The arguments have been checked: 0 <= initial <= maximum, and 0 < maximum.
  semaphore_object(LONG initial_count, LONG maximum_count) noexcept
      : dispatcher_object(kind_of_object), maximum_(maximum_count), count_(initial_count) {}

  /// Adds a positive `amount`, and says what the count was. False when that would exceed the maximum: nothing changes.
  [[nodiscard]] bool release(LONG amount, LONG& previous) noexcept;

  [[nodiscard]] bool is_signalled_for(const thread_record*) const noexcept override { return count_ > 0; }
  wait_status consume(thread_record*) noexcept override;

 private:
  const LONG maximum_;
  LONG count_;  // guarded by the lock
};

}  // namespace tidepool::engine
