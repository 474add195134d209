#pragma once

#include "trace/buffer.hpp"

namespace tidepool::recorder {

/// Trivial, so that it is there in every constructor and destructor of the thread.
struct thread_place {
  segment* own = nullptr;
  bool ending = false;
};
extern thread_local constinit thread_place place_here
#ifdef __ELF__
    __attribute__((tls_model("initial-exec")))
#endif
    ;

[[nodiscard]] inline segment* own_segment() noexcept { return place_here.own; }

/// errno stays as it is by itself, but for next_own_segment, which sees to it.
struct keep_last_error {
  keep_last_error() noexcept {}
};

}  // namespace tidepool::recorder
