// What the kernel objects know about a thread.
#pragma once

namespace tidepool::engine {

class mutex_object;

/// Its address is the thread's identity as an owner of mutexes and critical sections: unique among the threads
/// that live, had without a system call, and reused only after the thread has let go of all its mutexes.
struct thread_record {
  static thread_record& current() noexcept { return current_; }

  /// The mutexes that the thread owns, last acquired first. Only the thread itself looks at the list.
  mutex_object* owned = nullptr;
  /// Whether the thread's end will abandon what it owns.
  bool hooked = false;

 private:
  /// constinit: other sources reach it without a call that would see to its initialisation.
  static constinit thread_local thread_record current_ __attribute__((tls_model("initial-exec")));
};

}  // namespace tidepool::engine
