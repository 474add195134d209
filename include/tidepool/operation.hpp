// Requests: their storage and their names.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tidepool/detail/operation_base.hpp"
#include "tidepool/native.hpp"

namespace tidepool {

/// Names one request of one `io`, for io::cancel(). A generation that no other request of the process ever has is part
/// of it, so an id that is kept for too long names nothing, even when the request's memory is in use again.
///
/// Thread safety: as for int. A default-constructed id names nothing.
class operation_id {
 public:
  operation_id() noexcept = default;

  /// Whether it names a request, which may be over.
  [[nodiscard]] explicit operator bool() const noexcept { return generation_ != 0; }

  friend bool operator==(const operation_id&, const operation_id&) noexcept = default;
  /// An order to keep them in. Of two requests of one thread the later one is greater.
  friend std::strong_ordering operator<=>(const operation_id&, const operation_id&) noexcept = default;

 private:
  friend struct detail::access;
  friend struct std::hash<operation_id>;

  operation_id(std::uint32_t slot, std::uint64_t generation) noexcept : generation_(generation), slot_(slot) {}

  std::uint64_t generation_ = 0;
  std::uint32_t slot_ = 0;
};

namespace detail {

struct seam;

/// A payload with what the system and the completion need.
template <class Payload>
struct operation_storage final : operation_base {
  template <class... Arguments>
  explicit operation_storage(Arguments&&... arguments) : payload(std::forward<Arguments>(arguments)...) {}

  Payload payload;
  void* issuer = nullptr;  // lives on the stack of who submits
  // What is called in the end: in place if it fits, or a pointer to it.
  alignas(std::max_align_t) std::byte done[4 * sizeof(void*)];
};

}  // namespace detail

/// Storage for one request: the OVERLAPPED that the system works with, and a payload of yours, buffers included. Both
/// stay where they are for as long as the operation lives, however often this owner is moved.
///
/// unsafe::submit() takes it over for the time of the request, and the completion brings it back: it can then be
/// submitted again, at no further allocation. Without that function it is of no use; the members of `io` make their
/// own.
///
/// Thread safety: as for std::unique_ptr. A moved-from operation can be destroyed and assigned to.
template <class Payload>
class operation {
 public:
  /// Makes the payload of `arguments`. Throws std::bad_alloc and what that throws. Costs one allocation.
  template <class... Arguments>
  explicit operation(Arguments&&... arguments)
    requires std::is_constructible_v<Payload, Arguments...>
      : storage_(detail::make_operation<detail::operation_storage<Payload>>(std::forward<Arguments>(arguments)...)) {}

  operation(operation&&) noexcept = default;
  operation& operator=(operation&&) noexcept = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  ~operation() = default;

  [[nodiscard]] Payload& payload() noexcept { return storage_->payload; }
  [[nodiscard]] const Payload& payload() const noexcept { return storage_->payload; }
  Payload* operator->() noexcept { return std::addressof(storage_->payload); }
  const Payload* operator->() const noexcept { return std::addressof(storage_->payload); }

  /// Whether there is storage: not after it has been moved from, or handed over.
  [[nodiscard]] explicit operator bool() const noexcept { return storage_ != nullptr; }

 private:
  friend struct detail::seam;

  explicit operation(detail::operation_owner<detail::operation_storage<Payload>> storage) noexcept
      : storage_(std::move(storage)) {}

  detail::operation_owner<detail::operation_storage<Payload>> storage_;
};

}  // namespace tidepool

template <>
struct std::hash<tidepool::operation_id> {
  std::size_t operator()(const tidepool::operation_id& id) const noexcept {
    return std::hash<std::uint64_t>{}(id.generation_);  // which is enough to tell them apart
  }
};
