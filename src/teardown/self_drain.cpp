#include "teardown/self_drain.hpp"

#include <system_error>

#include "teardown/callback_chain.hpp"
#include "teardown/fail_fast.hpp"

namespace tidepool {

std::string created_at(const std::source_location& where) {
  return std::string("which was created at ") + where.file_name() + ":" + std::to_string(where.line());
}

void refuse_self_drain(const detail::callback_context& context, const char* function) {
  if (runs_on_this_thread(context)) {
    throw std::system_error(
        std::make_error_code(std::errc::resource_deadlock_would_occur),
        std::string(function) + " inside a callback of the same object, " + created_at(context.created_at));
  }
}

void fail_fast_on_self_drain(const detail::callback_context& context) noexcept {
  if (runs_on_this_thread(context)) {
    fail_fast(name_of(context.kind), context.created_at,
              "is being destroyed inside its own callback, and would wait for itself for ever; let another thread "
              "destroy it, or call callback_instance::disassociate() first");
  }
}

}  // namespace tidepool
