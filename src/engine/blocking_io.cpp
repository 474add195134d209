#include "engine/blocking_io.hpp"

#include <new>

#include "engine/io_request.hpp"
#include "engine/pool.hpp"

namespace tidepool::engine {

void queue_blocking(io_request& request) noexcept {
  // Never destroyed, as the default pool is not.
  alignas(_TP_POOL) static unsigned char storage[sizeof(_TP_POOL)];
  static _TP_POOL& threads = []() noexcept -> _TP_POOL& {
    constexpr std::uint32_t most = 16;  // a disk is no faster for more
    _TP_POOL& made = *::new (static_cast<void*>(storage)) _TP_POOL(TidepoolFilePool);
    made.set_maximum(most);
    return made;
  }();
  threads.queue(request);
}

}  // namespace tidepool::engine
