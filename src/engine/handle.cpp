// handleapi.h: closing, duplicating, comparing handles.
#include "tidepool/win32/handleapi.h"

#include "engine/handle_table.hpp"

using namespace tidepool::engine;

namespace {

BOOL duplicate(HANDLE source, LPHANDLE target) noexcept {
  const object_pin object{source};
  if (!object) {
    return fail(ERROR_INVALID_HANDLE);
  }
  if (target == nullptr) {
    return TRUE;
  }
  object->add_reference();
  const HANDLE second = handles.open(*object);
  if (second == nullptr) {
    object->release_reference();
    return fail(ERROR_NOT_ENOUGH_MEMORY);
  }
  *target = second;
  return TRUE;
}

}  // namespace

HANDLE GetCurrentProcess() noexcept { return INVALID_HANDLE_VALUE; }

BOOL CloseHandle(HANDLE handle) noexcept { return handles.close(handle) ? TRUE : fail(ERROR_INVALID_HANDLE); }

BOOL DuplicateHandle(HANDLE source_process, HANDLE source, HANDLE target_process, LPHANDLE target, DWORD /*access*/,
                     BOOL /*inherit*/, DWORD options) noexcept {
  if (source_process != GetCurrentProcess()) {
    return fail(ERROR_INVALID_HANDLE);
  }
  const bool close_source = (options & DUPLICATE_CLOSE_SOURCE) != 0;
  BOOL result;
  if (target_process == nullptr && close_source) {
    result = duplicate(source, nullptr);  // the documented way to only close a handle
  } else if (target_process != GetCurrentProcess()) {
    result = fail(ERROR_INVALID_HANDLE);
  } else {
    result = duplicate(source, target);
  }
  if (close_source) {
    // Closed also after an error. When somebody else closed it in between, what was made is good all the same.
    static_cast<void>(handles.close(source));
  }
  return result;
}

BOOL CompareObjectHandles(HANDLE first, HANDLE second) noexcept {
  const object_pin one{first};
  const object_pin other{second};
  if (!one || !other) {
    return fail(ERROR_INVALID_HANDLE);
  }
  return &*one == &*other ? TRUE : fail(ERROR_NOT_SAME_OBJECT);
}
