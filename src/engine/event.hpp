// The event: a flag that threads wait for.
#pragma once

#include "engine/dispatcher_object.hpp"

namespace tidepool::engine {

class event_object final : public dispatcher_object {
 public:
  static constexpr object_kind kind_of_object = object_kind::event;

  event_object(bool manual_reset, bool initially_set) noexcept
      : dispatcher_object(kind_of_object), manual_reset_(manual_reset), set_(initially_set) {}

  void set() noexcept;
  void reset() noexcept;

  [[nodiscard]] bool is_signalled_for(const thread_record*) const noexcept override { return set_; }
  wait_status consume(thread_record*) noexcept override;

  /// An eventfd that follows the event; made by the first call. -1 when there can be none.
  int descriptor() noexcept;

 private:
  ~event_object() override;
  void reflect() noexcept;

  const bool manual_reset_;
  // Guarded by the lock.
  bool set_;
  int mirror_ = -1;
  bool mirrors_set_ = false;
};

}  // namespace tidepool::engine
