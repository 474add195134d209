// What a callback environment asks for, checked and copied at the creation of an object.
#pragma once

#include "engine/packet.hpp"
#include "tidepool/win32/threadpoolapiset.h"

namespace tidepool::engine {

struct callback_settings {
  _TP_POOL* pool;
  _TP_CLEANUP_GROUP* group = nullptr;
  PTP_CLEANUP_GROUP_CANCEL_CALLBACK group_cancel = nullptr;
  HMODULE library = nullptr;
  PTP_SIMPLE_CALLBACK finalization = nullptr;
  unsigned level = normal_level;
  bool runs_long = false;

  /// Reads `environment` (null: the default one). False, with the last error set, when it is not one that the
  /// API knows.
  [[nodiscard]] static bool read(const TP_CALLBACK_ENVIRON* environment, callback_settings& into) noexcept;

  /// Whether nothing is asked for beyond a pool and a priority.
  [[nodiscard]] bool plain() const noexcept {
    return group == nullptr && library == nullptr && finalization == nullptr && !runs_long;
  }
};

}  // namespace tidepool::engine
