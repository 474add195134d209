#include "teardown/obligation.hpp"

#include "trace/objects.hpp"

#ifdef TIDEPOOL_FAIL_FAST
#include <cstdio>

#include "teardown/fail_fast.hpp"
#endif

namespace tidepool {

void report_owed_drain(const detail::callback_context& context) noexcept {
  recorder::note_site_of<recorder::action::drain_owed>(context);
#ifdef TIDEPOOL_FAIL_FAST
  char what_happened[128];
  static_cast<void>(std::snprintf(what_happened, sizeof what_happened,
                                  "was destroyed while it still owed a drain; call %s() before", context.drained_by));
  fail_fast(name_of(context.kind), context.created_at, what_happened);
#endif
}

}  // namespace tidepool
