#include "teardown/context_lifetime.hpp"

#include <utility>

#include "trace/objects.hpp"

namespace tidepool {

void give_back(detail::callback_context& context) noexcept {
  // Release: what this owner did comes before the destruction. Acquire: so does what the earlier ones did.
  if (context.references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  // The callable's code may belong to the library, and may use the pool: both stay until it is destroyed.
  const std::shared_ptr<::HINSTANCE__> library = std::move(context.library);
  const std::shared_ptr<::_TP_POOL> pool = std::move(context.pool);
  const recorder::kind kind = recorder::kind_of(context.kind);
  context.destroy_whole(&context);
  recorder::note_of_late<recorder::action::destroyed>(kind, &context);
}

}  // namespace tidepool
