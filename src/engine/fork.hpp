// What becomes of the engine in the child of a fork.
//
// The threads are not there. If there was none yet, nothing is missing, and the child's engine is as new. If there was,
// queued callbacks, timers and requests belong to the parent, and nobody in the child would ever run, fire or complete
// anything: what needs a thread, or would wait for one, ends the child with a message instead.
#pragma once

namespace tidepool::engine {

/// Whether this is such a child. Written once, by the only thread there is.
extern constinit bool threads_are_lost __attribute__((visibility("hidden")));

[[noreturn]] void refuse_after_fork() noexcept;

/// By everything that is going to rely on a thread of the engine.
inline void require_threads() noexcept {
  if (threads_are_lost) [[unlikely]] {
    refuse_after_fork();
  }
}

/// By who starts one: from now on a child of this process lacks it.
void note_thread_started() noexcept;

}  // namespace tidepool::engine
