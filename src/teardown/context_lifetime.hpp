// Who keeps a context, and how it goes.
#pragma once

#include "tidepool/detail/callback_context.hpp"

namespace tidepool {

/// One more owner. By somebody who has the context from an owner.
inline void keep(detail::callback_context& context) noexcept {
  context.references.fetch_add(1,
                               std::memory_order_relaxed);  // the owner it came from orders it before any last release
}

/// One owner less; the last one destroys the context. To be called outside every lock: the callable's destructor may do
/// anything, even destroy other objects of ours.
void give_back(detail::callback_context& context) noexcept;

}  // namespace tidepool
