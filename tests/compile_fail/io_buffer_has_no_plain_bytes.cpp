// Strings are more than their bytes.
// expect: tidepool: a buffer owns its bytes until the transfer is over
#include <memory>
#include <string>
#include <tidepool/io.hpp>
#include <vector>

void start(tidepool::io& pipe) {
#ifdef CONTROL
  pipe.read(std::vector<int>(10), [] {});
#else
  pipe.read(std::vector<std::unique_ptr<int>>(10), [] {});
#endif
}
