// What a completion port queues: packets, and bundles of one-off callbacks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "tidepool/win32/tpextensions.h"

namespace tidepool::engine {

struct worker;
struct packet;

/// TP_CALLBACK_PRIORITY's values: the lower the number, the sooner it is served.
inline constexpr unsigned level_count = 3;
inline constexpr unsigned normal_level = 1;

/// What a packet is and how urgent: one constant per kind and level, so that a packet needs one pointer for both.
struct packet_kind {
  void (*dispatch)(worker&, packet&) noexcept;  // runs the packet on the worker that took it; null: a bundle
  unsigned level;
};

/// The kinds of packets that `dispatch` runs, by level.
template <void (*dispatch)(worker&, packet&) noexcept>
inline constexpr packet_kind kinds_of[level_count] = {{dispatch, 0}, {dispatch, 1}, {dispatch, 2}};

inline constexpr packet_kind bundle_kinds[level_count] = {{nullptr, 0}, {nullptr, 1}, {nullptr, 2}};

/// One entry of a port, part of the object that it stands for. It is in at most one queue at a time; whoever
/// takes it out owns it.
struct packet {
  explicit packet(const packet_kind& of) noexcept : kind(&of) {}

  [[nodiscard]] unsigned level() const noexcept { return kind->level; }
  [[nodiscard]] bool is_bundle() const noexcept { return kind->dispatch == nullptr; }

  packet* next = nullptr;
  const packet_kind* kind;
};

/// A one-off callback to be queued. Its context is a pointer, or else a closure: a few words of plain data, of which
/// the callback gets the address of a copy.
struct callback_record {
  PTP_SIMPLE_CALLBACK callback = nullptr;
  const std::uint64_t* words = nullptr;  // of the closure, or one that holds the pointer
  std::uint8_t closure_words = 0;        // none: the context is a pointer
};

inline constexpr std::size_t most_closure_words = TIDEPOOL_MOST_CLOSURE_WORDS;

/// What a worker takes from a queue: a packet or a one-off callback.
struct task {
  packet* entry = nullptr;
  PTP_SIMPLE_CALLBACK callback;  // if there is no packet
  std::uint8_t closure_words;
  alignas(std::max_align_t) std::uint64_t words[most_closure_words];  // the closure, or the pointer in the first

  [[nodiscard]] PVOID context() noexcept {
    return closure_words != 0 ? static_cast<PVOID>(words) : std::bit_cast<PVOID>(words[0]);
  }
};

/// One-off callbacks, queued one after the other: side by side in memory, because a queue of a million is read
/// at the speed of memory.
struct bundle : packet {
  explicit bundle(unsigned level) noexcept : packet(bundle_kinds[level]) {}

  /// Null when there is no memory.
  static bundle* make(unsigned level) noexcept;
  void destroy() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(last_ - first_); }

  /// False when it does not fit in any more.
  bool append(const callback_record& record) noexcept {
    if (last_ == capacity || end_ + words_of(record.closure_words) > word_capacity) {
      return false;
    }
    closure_words_[last_++] = record.closure_words;
    words_[end_] = std::bit_cast<std::uint64_t>(record.callback);
    copy(record.words, words_ + end_ + 1, words_of(record.closure_words) - 1);
    end_ = static_cast<std::uint8_t>(end_ + words_of(record.closure_words));
    return true;
  }

  /// Moves the oldest out; there must be one.
  void take_first(task& into) noexcept {
    into.entry = nullptr;
    into.callback = std::bit_cast<PTP_SIMPLE_CALLBACK>(words_[begin_]);
    into.closure_words = closure_words_[first_++];
    copy(words_ + begin_ + 1, into.words, words_of(into.closure_words) - 1);
    begin_ = static_cast<std::uint8_t>(begin_ + words_of(into.closure_words));
  }

 private:
  static constexpr std::size_t capacity = 13;
  static constexpr std::size_t word_capacity = 27;

  /// A callback takes the word of its address and those of its closure, or the one of its context.
  static constexpr std::size_t words_of(std::uint8_t closure_words) noexcept {
    return closure_words != 0 ? std::size_t{1} + closure_words : 2;
  }

  static void copy(const std::uint64_t* from, std::uint64_t* to, std::size_t words) noexcept {
    do {
      *to++ = *from++;
    } while (--words != 0);
  }

  std::uint8_t first_ = 0, last_ = 0;  // callbacks
  std::uint8_t begin_ = 0, end_ = 0;   // their words
  std::uint8_t closure_words_[capacity];
  std::uint64_t words_[word_capacity];
};

static_assert(sizeof(bundle) == 256, "a size of the block cache");

}  // namespace tidepool::engine
