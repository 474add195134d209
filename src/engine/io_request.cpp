#include "engine/io_request.hpp"

#include <climits>

namespace tidepool::engine {

io_request::rest io_request::remaining() const noexcept {
  std::size_t before = done;
  std::size_t part = 0;
  while (before != 0 && before >= parts[part].iov_len) {
    before -= parts[part].iov_len;
    ++part;
  }
  if (before != 0) {
    return {{static_cast<char*>(parts[part].iov_base) + before, parts[part].iov_len - before}, nullptr, 1};
  }
  const std::size_t left = part_count - part;
  return {{}, parts + part, static_cast<int>(left < IOV_MAX ? left : IOV_MAX)};
}

}  // namespace tidepool::engine
