// The making of a callback source.
#pragma once

#include "native_environment.hpp"
#include "teardown/context_lifetime.hpp"
#include "tidepool/detail/callback_context.hpp"
#include "trace/objects.hpp"

namespace tidepool {

/// The context shares the ownership of what the environment owns.
inline void adopt(detail::callback_context& context, const callback_environment& environment) noexcept {
  context.pool = detail::access::pool_of(environment);
  context.library = detail::access::library_of(environment);
}

/// Makes the context's native object by create_native(context, environment), which is found by the context's type and
/// throws when the system refuses. Takes over the context: when it throws it has given it back.
template <class Context>
void create(Context& context, const callback_environment& environment) {
  adopt(context, environment);
  try {
    create_native(context, native_for_creation(environment));
  } catch (...) {
    give_back(context);
    throw;
  }
  recorder::note_site_of<recorder::action::created>(context);
}

}  // namespace tidepool
