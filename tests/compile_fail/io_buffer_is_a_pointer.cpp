// Nobody knows for how long what a pointer points to will be there.
// expect: tidepool: a buffer owns its bytes until the transfer is over
#include <string>
#include <tidepool/io.hpp>

void start(tidepool::io& pipe, const char* text) {
#ifdef CONTROL
  pipe.write(std::string(text), [] {});
#else
  pipe.write(text, [] {});
#endif
}
