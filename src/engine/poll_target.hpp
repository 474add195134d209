// Who is told of the events of a descriptor.
#pragma once

#include <cstdint>

namespace tidepool::engine {

/// Found again by a key, which is the event's data. An event may have been taken from the system before its target
/// died; by then the key names nothing.
class poll_target {
 public:
  poll_target(const poll_target&) = delete;
  poll_target& operator=(const poll_target&) = delete;

  /// For the poller: `events` have happened to the descriptor registered with `key`.
  static void note(std::uint64_t key, std::uint32_t events) noexcept;

 protected:
  poll_target() = default;
  ~poll_target() = default;

  /// A key for a target that does not exist yet; zero when there is no memory.
  [[nodiscard]] static std::uint64_t reserve_key() noexcept;
  static void release_key(std::uint64_t key) noexcept;
  static void assign_key(std::uint64_t key, poll_target& to) noexcept;

 private:
  /// With the lock of the keys held, for a target that has not been destroyed: takes a reference, unless it is about to
  /// go.
  [[nodiscard]] virtual bool try_keep() noexcept = 0;
  /// Gives back that reference.
  virtual void note_events(std::uint32_t events) noexcept = 0;
};

}  // namespace tidepool::engine
