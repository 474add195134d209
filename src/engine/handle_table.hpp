// What a HANDLE stands for: a place in a table that never moves, and the generation of that place.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/dispatcher_object.hpp"
#include "engine/last_error.hpp"
#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

/// All handles of the process. Looking one up takes no lock. Never destroyed: threads may use handles until the
/// process is gone.
///
/// A handle, and the word of the slot that it names:
///
///     handle   63: 0 | 62..26: generation | 25..2: index | 1..0: 0
///     word           63..27: generation | 26: open | 25..0: pins
///
/// The two low bits are the program's: a handle is the same with any of them set, as on Windows. The generation is set
/// by open() and is at least 1, so that no small number is a handle. The open bit is set by open()
/// and cleared, once, by close(). Pins are taken and given back by whoever uses the object.
///
/// The race between a look-up and a close, told from each side. A look-up makes one atomic step from "open, this
/// generation, n pins" to the same with n + 1 pins (A). A close makes one from "open, this generation" to "not open"
/// (B). Both change the same word, so one comes first. If A does, B sees the pin, and leaves the slot to whoever gives
/// back the last pin; if B does, A fails and touches nothing. A slot that is not open gets no more pins, so that exactly
/// one thread finds "not open, no pins" as the result of its own step: the closer, or the one with the last pin. That
/// one frees the slot and gives back its reference to the object.
class handle_table {
 public:
  struct slot;

  constexpr handle_table() noexcept = default;
  handle_table(const handle_table&) = delete;
  handle_table& operator=(const handle_table&) = delete;

  /// Makes a handle that takes over one reference to `object`; null when there is no memory or no slot left.
  [[nodiscard]] HANDLE open(dispatcher_object& object) noexcept;

  /// Ends the handle; false when it is none.
  [[nodiscard]] bool close(HANDLE handle) noexcept;

  /// Keeps the handle's object alive, and its slot out of reuse, until unpin(). Null when the handle is none.
  [[nodiscard]] slot* pin(HANDLE handle) noexcept;
  void unpin(slot& of) noexcept;

 private:
  /// Segment k holds `first_segment_size << k` slots. The last entry stays null: index_limit ends before it, and a
  /// handle made up from any bits finds an entry.
  static constexpr std::uint32_t first_segment_bits = 6;
  static constexpr std::uint32_t segment_count = 19;

  [[nodiscard]] slot* find(HANDLE handle) const noexcept;
  [[nodiscard]] slot* take_free_slot() noexcept;
  void reclaim(slot& of) noexcept;

  std::atomic<slot*> segments_[segment_count] = {};
  futex_lock lock_;  // guards what follows, and the growth of segments_
  slot* free_ = nullptr;
  std::uint32_t used_ = 0;  // slots from here on have never been handed out
};

/// A line of its own for each, so that threads that use different handles do not disturb each other.
struct alignas(64) handle_table::slot {
  std::atomic<std::uint64_t> word{0};
  dispatcher_object* object = nullptr;  // constant while the slot is open or pinned
  slot* next_free = nullptr;            // guarded by the table's lock
  std::uint32_t index = 0;              // constant once the slot was handed out
};

extern handle_table handles;

/// Makes the handle of a new object, and takes over its only reference. What every Create function ends with: `object`
/// is null when there was no memory for it. Sets the last error, to ERROR_SUCCESS when it succeeds.
[[nodiscard]] HANDLE open_new_object(dispatcher_object* object) noexcept;

/// Pins what `handle` names; empty when it is no handle.
class object_pin {
 public:
  object_pin() noexcept = default;
  explicit object_pin(HANDLE handle) noexcept : slot_(handles.pin(handle)) {}
  object_pin(object_pin&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  object_pin& operator=(object_pin&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~object_pin() {
    if (slot_ != nullptr) {
      handles.unpin(*slot_);
    }
  }

  [[nodiscard]] explicit operator bool() const noexcept { return slot_ != nullptr; }
  [[nodiscard]] dispatcher_object& operator*() const noexcept { return *slot_->object; }
  [[nodiscard]] dispatcher_object* operator->() const noexcept { return slot_->object; }

 private:
  handle_table::slot* slot_ = nullptr;
};

/// Calls `use(Object&)` on the object that `handle` names. Fails with ERROR_INVALID_HANDLE when it names none, or one
/// of another kind.
template <class Object, class Use>
BOOL with_object(HANDLE handle, Use use) noexcept {
  const object_pin pin{handle};
  if (!pin || pin->kind != Object::kind_of_object) {
    return fail(ERROR_INVALID_HANDLE);
  }
  return use(static_cast<Object&>(*pin));
}

}  // namespace tidepool::engine
