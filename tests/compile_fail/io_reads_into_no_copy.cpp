// Reading into a copy of a buffer would leave the buffer itself as it is.
// expect: tidepool: reading into a copy of this buffer would leave the buffer itself as it is
#include <string>
#include <tidepool/io.hpp>
#include <utility>

void start(tidepool::io& pipe, std::string& buffer) {
#ifdef CONTROL
  pipe.read(std::move(buffer), [] {});
#else
  pipe.read(buffer, [] {});
#endif
}
