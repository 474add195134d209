// A handler is kept by value.
// expect: tidepool: the callable is kept by value, and it can not be copied; hand it over with std::move
#include <memory>
#include <tidepool/io.hpp>

void start(tidepool::io& listener) {
  auto handler = [owned = std::make_unique<int>(1)] {};
#ifdef CONTROL
  listener.accept(std::move(handler));
#else
  listener.accept(handler);
#endif
}
