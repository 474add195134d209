// The handler of an accept gets the connection.
// expect: tidepool: the handler of a request is called with its result
#include <tidepool/io.hpp>

void start(tidepool::io& listener) {
#ifdef CONTROL
  listener.accept([](tidepool::acceptance) {});
#else
  listener.accept([](tidepool::transfer<>) {});
#endif
}
