#include "engine/io_path.hpp"

#include <cstdlib>
#include <cstring>

#include "engine/io_ring.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::engine {

io_path::choice io_path::choose() noexcept {
  const char* const asked = std::getenv("TIDEPOOL_IO");
  const auto asks_for = [asked](const char* name) { return asked != nullptr && std::strcmp(asked, name) == 0; };
  if (asks_for("portable")) {
    return {nullptr, false, false};
  }
  io_ring* const ring = io_ring::open();
  if (asks_for("uring")) {
    return {ring, false, ring == nullptr};
  }
  return {ring, true, false};
}

const io_path::choice& io_path::chosen() noexcept {
  static const choice once = choose();
  return once;
}

}  // namespace tidepool::engine

TIDEPOOL_IO_PATH TidepoolIoPath() noexcept {
  return tidepool::engine::io_path::ring() != nullptr ? TidepoolIoUring : TidepoolIoPortable;
}

int TidepoolIoUringError() noexcept { return tidepool::engine::io_ring::error(); }
