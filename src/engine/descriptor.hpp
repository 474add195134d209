// Descriptors of the system that can be waited for.
#pragma once

#include <cstdint>

#include "engine/dispatcher_object.hpp"
#include "engine/poll_target.hpp"

namespace tidepool::engine {

/// Signalled while reading from the descriptor would not block, at the end of a stream and after an error included.
/// A wait consumes nothing. Owns a duplicate of what it was made from, so that nobody can close it, or put another
/// in its place, under a wait.
class descriptor_object final : public dispatcher_object, poll_target {
 public:
  static constexpr object_kind kind_of_object = object_kind::descriptor;

  /// Null, with the last error set, when `descriptor` is none that can be polled, or memory or descriptors are short.
  static descriptor_object* make(int descriptor) noexcept;

  [[nodiscard]] bool is_signalled_for(const thread_record*) const noexcept override { return ready_; }
  [[nodiscard]] bool probe(const thread_record*) const noexcept override;
  [[nodiscard]] bool glance(const thread_record* thread) noexcept override;
  wait_status consume(thread_record*) noexcept override { return wait_status::signalled; }

 private:
  descriptor_object(int duplicate, std::uint64_t key) noexcept
      : dispatcher_object(kind_of_object), descriptor_(duplicate), key_(key) {}
  ~descriptor_object() override;

  [[nodiscard]] bool try_keep() noexcept override { return try_add_reference(); }
  void note_events(std::uint32_t events) noexcept override;
  void waiters_came() noexcept override;
  void waiters_gone() noexcept override;
  void arm() noexcept;

  const int descriptor_;
  const std::uint64_t key_;
  // Guarded by the lock.
  bool ready_ = false;                // only while waiters are being satisfied
  bool armed_ = false;                // an event will come
  std::uint8_t glances_skipped_ = 0;  // since one that was in vain; zero: the last one was not
};

}  // namespace tidepool::engine
