#include "engine/handle_table.hpp"

#include <bit>
#include <mutex>
#include <new>

namespace tidepool::engine {

namespace {

constexpr unsigned index_shift = 2;
constexpr unsigned index_bits = 24;
constexpr unsigned handle_generation_shift = index_shift + index_bits;

constexpr std::uint64_t one_pin = 1;
constexpr std::uint64_t open_bit = std::uint64_t{1} << 26;
constexpr std::uint64_t pin_mask = open_bit - 1;  // 67 million; a thread holds at most MAXIMUM_WAIT_OBJECTS of them
constexpr unsigned word_generation_shift = 27;
constexpr std::uint64_t last_generation = (std::uint64_t{1} << (64 - word_generation_shift)) - 1;

static_assert(handle_generation_shift + (64 - word_generation_shift) == 63, "the top bit of a handle is clear");

/// What the word of the handle's slot is while the handle is open, pins aside.
std::uint64_t open_word(HANDLE handle) noexcept {
  return (reinterpret_cast<std::uintptr_t>(handle) >> handle_generation_shift) << word_generation_shift | open_bit;
}

}  // namespace

constinit handle_table handles;

HANDLE handle_table::open(dispatcher_object& object) noexcept {
  slot* const place = take_free_slot();
  if (place == nullptr) {
    return nullptr;
  }
  place->object = &object;
  // Relaxed: a free slot's word does not change, and the table's lock has handed it over.
  const std::uint64_t generation = (place->word.load(std::memory_order_relaxed) >> word_generation_shift) + 1;
  // Release: pairs with the acquire of pin(), which then sees the object.
  place->word.store(generation << word_generation_shift | open_bit, std::memory_order_release);
  return reinterpret_cast<HANDLE>(generation << handle_generation_shift | std::uint64_t{place->index} << index_shift);
}

bool handle_table::close(HANDLE handle) noexcept {
  slot* const place = find(handle);
  if (place == nullptr) {
    return false;
  }
  const std::uint64_t open = open_word(handle);
  std::uint64_t word = place->word.load(std::memory_order_relaxed);  // a guess; the exchange below decides
  do {
    if ((word & ~pin_mask) != open) {
      return false;
    }
    // Release and acquire: pairs with unpin(), in both directions. Whichever comes last reclaims the slot, and sees
    // what everybody else did to the object.
  } while (
      !place->word.compare_exchange_weak(word, word & ~open_bit, std::memory_order_acq_rel, std::memory_order_relaxed));
  if ((word & pin_mask) == 0) {
    reclaim(*place);
  }
  return true;
}

handle_table::slot* handle_table::pin(HANDLE handle) noexcept {
  slot* const place = find(handle);
  if (place == nullptr) {
    return nullptr;
  }
  const std::uint64_t open = open_word(handle);
  std::uint64_t word = place->word.load(std::memory_order_relaxed);  // a guess; the exchange below decides
  do {
    if ((word & ~pin_mask) != open) {
      return nullptr;
    }
    // Acquire: pairs with the release of open(), so that the object is seen; the pins in between keep its release
    // sequence.
  } while (
      !place->word.compare_exchange_weak(word, word + one_pin, std::memory_order_acquire, std::memory_order_relaxed));
  return place;
}

void handle_table::unpin(slot& of) noexcept {
  // Release and acquire: pairs with close() and with the other unpins; see close().
  const std::uint64_t before = of.word.fetch_sub(one_pin, std::memory_order_acq_rel);
  if ((before & (open_bit | pin_mask)) == one_pin) {
    reclaim(of);
  }
}

/// The slot that the handle names, whatever is in it; null when there is none.
handle_table::slot* handle_table::find(HANDLE handle) const noexcept {
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(handle);
  if ((bits >> 63) != 0) {
    return nullptr;
  }
  // Counted from one segment size on, the highest bit of a number says which segment it is in.
  const std::uint64_t number =
      ((bits >> index_shift) & ((1u << index_bits) - 1)) + (std::uint64_t{1} << first_segment_bits);
  const auto segment = static_cast<unsigned>(std::bit_width(number)) - 1 - first_segment_bits;
  // Acquire: pairs with the release of take_free_slot(), so that the slots are seen as they were made.
  slot* const slots = segments_[segment].load(std::memory_order_acquire);
  return slots == nullptr ? nullptr : slots + (number - (std::uint64_t{1} << (first_segment_bits + segment)));
}

handle_table::slot* handle_table::take_free_slot() noexcept {
  const std::lock_guard guard{lock_};
  if (slot* const place = free_) {
    free_ = place->next_free;
    return place;
  }
  const std::uint64_t number = std::uint64_t{used_} + (std::uint64_t{1} << first_segment_bits);
  const auto segment = static_cast<unsigned>(std::bit_width(number)) - 1 - first_segment_bits;
  if (segment == segment_count - 1) {
    return nullptr;
  }
  slot* slots = segments_[segment].load(std::memory_order_relaxed);  // written under the lock only
  if (slots == nullptr) {
    slots = new (std::nothrow) slot[std::size_t{1} << (first_segment_bits + segment)];
    if (slots == nullptr) {
      return nullptr;
    }
    segments_[segment].store(slots, std::memory_order_release);  // pairs with the acquire of find()
  }
  slot& place = slots[number - (std::uint64_t{1} << (first_segment_bits + segment))];
  place.index = used_++;
  return &place;
}

void handle_table::reclaim(slot& of) noexcept {
  dispatcher_object& object = *std::exchange(of.object, nullptr);
  // A slot that has had all its generations is not used again: no handle ever comes back as another one.
  if (of.word.load(std::memory_order_relaxed) >> word_generation_shift != last_generation) {
    const std::lock_guard guard{lock_};
    of.next_free = free_;
    free_ = &of;
  }
  object.release_reference();
}

HANDLE open_new_object(dispatcher_object* object) noexcept {
  if (object == nullptr) {
    return fail<HANDLE>(ERROR_NOT_ENOUGH_MEMORY);
  }
  const HANDLE handle = handles.open(*object);
  if (handle == nullptr) {
    object->release_reference();
    return fail<HANDLE>(ERROR_NOT_ENOUGH_MEMORY);
  }
  SetLastError(ERROR_SUCCESS);
  return handle;
}

}  // namespace tidepool::engine
