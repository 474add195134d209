// A first-in-first-out queue of packets and one-off callbacks.
#pragma once

#include <cstddef>

#include "engine/assertion.hpp"
#include "engine/packet.hpp"

namespace tidepool::engine {

/// Intrusive: queueing a packet needs no memory, and a one-off callback a new bundle only now and then. No
/// synchronisation of its own.
class packet_queue {
 public:
  packet_queue() = default;
  packet_queue(const packet_queue&) = delete;
  packet_queue& operator=(const packet_queue&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// Callbacks: a packet counts as one, a bundle as what it holds.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push_back(packet& entry) noexcept {
    entry.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &entry;
    last_ = &entry;
    size_ += size_of(entry);
  }

  void push_front(packet& entry) noexcept {
    entry.next = first_;
    first_ = &entry;
    if (last_ == nullptr) {
      last_ = &entry;
    }
    size_ += size_of(entry);
  }

  /// Queues a one-off callback of a queue of one level, in the last bundle or else in `fresh`, which holds it
  /// already; then `fresh` is taken over and becomes null. False when there is neither.
  bool push_back(const callback_record& record, bundle*& fresh) noexcept {
    if (last_ != nullptr && last_->is_bundle()) {
      if (static_cast<bundle&>(*last_).append(record)) {
        ++size_;
        return true;
      }
    }
    if (fresh == nullptr) {
      return false;
    }
    push_back(*fresh);
    fresh = nullptr;
    return true;
  }

  /// Takes the oldest out; the queue must not be empty.
  void pop_front(task& into) noexcept {
    TIDEPOOL_ASSERT(first_ != nullptr && size_ != 0);
    packet& entry = *first_;
    --size_;
    if (!entry.is_bundle()) {
      unlink_first();
      into.entry = &entry;
      return;
    }
    auto& from = static_cast<bundle&>(entry);
    from.take_first(into);
    if (from.size() == 0) {
      unlink_first();
      from.destroy();
    }
  }

  /// Takes out a packet, wherever it stands; false when it is not here. Walks up to it.
  bool remove(packet& entry) noexcept {
    packet* before = nullptr;
    for (packet* each = first_; each != nullptr; before = each, each = each->next) {
      if (each == &entry) {
        (before != nullptr ? before->next : first_) = entry.next;
        if (last_ == &entry) {
          last_ = before;
        }
        size_ -= size_of(entry);
        return true;
      }
    }
    return false;
  }

  /// Moves about the first `count` callbacks of `other`, and all of it at most, to the end of this. Never moves
  /// nothing.
  void take(packet_queue& other, std::size_t count) noexcept {
    do {
      TIDEPOOL_ASSERT(!other.empty());
      packet& entry = *other.first_;
      const std::size_t size = size_of(entry);
      if (size > count && split(other, static_cast<bundle&>(entry), count)) {
        return;
      }
      other.unlink_first();
      other.size_ -= size;
      push_back(entry);
      count -= size < count ? size : count;
    } while (count != 0 && !other.empty());
  }

  /// Moves all of `other` behind the last of this.
  void append(packet_queue& other) noexcept {
    if (!other.empty()) {
      (last_ != nullptr ? last_->next : first_) = other.first_;
      last_ = other.last_;
      size_ += other.size_;
      other.reset();
    }
  }

  /// Moves all of `other` before the first of this.
  void prepend(packet_queue& other) noexcept {
    if (!other.empty()) {
      other.last_->next = first_;
      if (last_ == nullptr) {
        last_ = other.last_;
      }
      first_ = other.first_;
      size_ += other.size_;
      other.reset();
    }
  }

  template <class Visit>
  void for_each(Visit visit) const noexcept {
    for (const packet* each = first_; each != nullptr; each = each->next) {
      visit(*each);
    }
  }

 private:
  static std::size_t size_of(const packet& entry) noexcept {
    return entry.is_bundle() ? static_cast<const bundle&>(entry).size() : 1;
  }

  void unlink_first() noexcept {
    first_ = first_->next;
    if (first_ == nullptr) {
      last_ = nullptr;
    } else {
      __builtin_prefetch(first_);  // a long queue has left the cache; the next pop is not far away
    }
  }

  /// Moves the first `count` callbacks of `from`, the first of `other` and larger than that, into a bundle of
  /// its own. False when there is no memory for one.
  bool split(packet_queue& other, bundle& from, std::size_t count) noexcept {
    bundle* const part = bundle::make(from.level());
    if (part == nullptr) {
      return false;
    }
    for (task moved; part->size() != count;) {
      from.take_first(moved);
      part->append({moved.callback, moved.words, moved.closure_words});
    }
    other.size_ -= count;
    push_back(*part);
    return true;
  }

  void reset() noexcept {
    first_ = nullptr;
    last_ = nullptr;
    size_ = 0;
  }

  packet* first_ = nullptr;
  packet* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tidepool::engine
