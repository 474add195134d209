// The storage of a request belongs to the system until it is over.
// expect: cannot bind rvalue reference|no matching function for call to|expects an rvalue
#include <tidepool/unsafe.hpp>
#include <utility>

void start(tidepool::io& pipe, tidepool::operation<int>& op) {
  const auto issue = [](tidepool::native::handle, tidepool::native::overlapped, int&) noexcept {
    return tidepool::unsafe::issued::refused(1);
  };
#ifdef CONTROL
  tidepool::unsafe::submit(pipe, std::move(op), issue, [] {});
#else
  tidepool::unsafe::submit(pipe, op, issue, [] {});
#endif
}
