// The object keeps the callable by value.
// expect: it can not be copied; hand it over with std::move
#include <memory>
#include <tidepool/tidepool.hpp>
#include <utility>

void make() {
  auto callable = [number = std::make_unique<int>(1)] { ++*number; };
#ifdef CONTROL
  tidepool::work object(std::move(callable));
#else
  tidepool::work object(callable);
#endif
}
