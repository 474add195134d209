#include "engine/environment.hpp"

#include <cstring>

#include "engine/pool.hpp"
#include "tidepool/win32/errhandlingapi.h"
#include "tidepool/win32/winerror.h"

namespace tidepool::engine {

bool callback_settings::read(const TP_CALLBACK_ENVIRON* environment, callback_settings& into) noexcept {
  if (environment == nullptr) {
    into.pool = &_TP_POOL::process_default();
    return true;
  }
  // Version 1 ends before the priority; version 3 added it. There are no others.
  const bool has_priority = environment->Version == 3;
  unsigned level = normal_level;
  if (has_priority) {
    // Not read as what it is: a C program may have put any number there.
    static_assert(sizeof level == sizeof environment->CallbackPriority);
    std::memcpy(&level, &environment->CallbackPriority, sizeof level);
  }
  if ((environment->Version != 1 && !has_priority) || level >= level_count) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return false;
  }
  into.pool = &_TP_POOL::or_default(environment->Pool);
  into.group = environment->CleanupGroup;
  into.group_cancel = environment->CleanupGroupCancelCallback;
  into.library = static_cast<HMODULE>(environment->RaceDll);
  into.finalization = environment->FinalizationCallback;
  into.level = level;
  into.runs_long = environment->u.s.LongFunction != 0;
  return true;
}

}  // namespace tidepool::engine
