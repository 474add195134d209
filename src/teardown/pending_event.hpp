// An event that a callback wants to have set when it returns.
#pragma once

#include "tidepool/event.hpp"

namespace tidepool::detail {

struct pending_event {
  event what;
  pending_event* next = nullptr;
};

}  // namespace tidepool::detail
