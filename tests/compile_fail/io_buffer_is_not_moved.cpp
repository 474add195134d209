// A buffer has one owner.
// expect: tidepool: the buffer is kept by value, and it can not be copied; hand it over with std::move
#include <tidepool/io.hpp>
#include <utility>

void start(tidepool::io& pipe, tidepool::buffer& memory) {
#ifdef CONTROL
  pipe.write(std::move(memory), [] {});
#else
  pipe.write(memory, [] {});
#endif
}
