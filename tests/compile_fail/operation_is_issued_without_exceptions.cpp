// An exception between the start and the native call would leave the accounting wrong.
// expect: tidepool: what issues a request is called with
#include <tidepool/unsafe.hpp>
#include <utility>

void start(tidepool::io& pipe, tidepool::operation<int>& op) {
#ifdef CONTROL
  const auto issue = [](tidepool::native::handle, tidepool::native::overlapped, int&) noexcept {
#else
  const auto issue = [](tidepool::native::handle, tidepool::native::overlapped, int&) {
#endif
    return tidepool::unsafe::issued::refused(1);
  };
  tidepool::unsafe::submit(pipe, std::move(op), issue, [] {});
}
