// What a view shows may be gone before the system writes to it.
// expect: tidepool: a buffer owns its bytes until the transfer is over
#include <span>
#include <tidepool/io.hpp>
#include <vector>

void start(tidepool::io& pipe, std::vector<std::byte> bytes) {
#ifdef CONTROL
  pipe.read(std::move(bytes), [] {});
#else
  pipe.read(std::span<std::byte>(bytes), [] {});
#endif
}
