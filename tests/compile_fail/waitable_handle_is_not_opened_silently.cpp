// Taking the handle out of its wrapper is for tidepool::unsafe, and ends the wrapper.
// expect: into_handle
#include <tidepool/unsafe.hpp>
#include <utility>

auto take(tidepool::waitable_handle& from) {
#ifdef CONTROL
  return tidepool::unsafe::into_handle(std::move(from));
#else
  return tidepool::unsafe::into_handle(from);
#endif
}
