// Threads for requests that would block the one that carries them out.
#pragma once

namespace tidepool::engine {

struct io_request;

/// Queues a request with place `blocking` on a pool of the engine's own, whose workers are expected to sleep: what can not
/// be had without blocking does not hold up anybody's callbacks, and comes also while all of those are held up.
void queue_blocking(io_request& request) noexcept;

}  // namespace tidepool::engine
