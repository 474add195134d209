// The handler of a read gets its buffer back.
// expect: tidepool: the handler of a request is called with its result
#include <string>
#include <tidepool/io.hpp>

void start(tidepool::io& pipe) {
#ifdef CONTROL
  pipe.read(std::string(10, ' '), [](tidepool::transfer<std::string>) {});
#else
  pipe.read(std::string(10, ' '), [](tidepool::transfer<>) {});
#endif
}
