// The mutex: owned by one thread, recursively, and abandoned when that thread ends.
#pragma once

#include <cstdint>

#include "engine/dispatcher_object.hpp"
#include "engine/thread_record.hpp"

namespace tidepool::engine {

/// While it is owned it holds a reference to itself for its owner, whose record lists it. The list belongs to the
/// owner's thread: a thread to which somebody else passes the mutex puts it on its list when it wakes up, and it can
/// not end before. So the list needs no lock; the price is that a mutex all of whose handles were closed while it was
/// owned lives until its owner acquires another one, or ends.
class mutex_object final : public dispatcher_object {
 public:
  static constexpr object_kind kind_of_object = object_kind::mutex;

  mutex_object() noexcept : dispatcher_object(kind_of_object) {}

  /// Undoes one acquisition by the calling thread; false when it is not the owner.
  [[nodiscard]] bool release() noexcept;

  [[nodiscard]] bool is_signalled_for(const thread_record* thread) const noexcept override {
    return owner_ == nullptr || owner_ == thread;
  }
  wait_status consume(thread_record* thread) noexcept override;
  void note_acquired(thread_record& self) noexcept override;

  /// The mutex that its owner acquired before this one. For the owner's thread.
  [[nodiscard]] const mutex_object* next_owned() const noexcept { return next_owned_; }

  /// Gives up everything that the thread owns; the next owners learn of it. Called at the thread's end.
  static void abandon_all(thread_record& self) noexcept;

 private:
  void abandon() noexcept;
  void list(thread_record& self) noexcept;
  void unlist(thread_record& self) noexcept;

  // Guarded by the lock.
  thread_record* owner_ = nullptr;
  std::uint64_t recursion_ = 0;  // 64 bits: can not overflow
  bool abandoned_ = false;

  // Used by the owner's thread alone. The next owner sees the changes through the lock under which it became the owner.
  bool listed_ = false;
  mutex_object* next_owned_ = nullptr;
  mutex_object* previous_owned_ = nullptr;
};

}  // namespace tidepool::engine
