// References to shared libraries.
#pragma once

#include "tidepool/win32/basetypes.h"

namespace tidepool::engine {

/// One more reference to a loaded library, which keeps its code where it is. For a library that somebody else keeps
/// loaded at the time of acquire(); costs a search of the loader's list, under the loader's lock.
struct module_reference {
  /// False, with no reference taken, when the loader refuses: the library is not loaded, or memory is short.
  static bool acquire(HMODULE module) noexcept;

  /// Gives one reference back. With the last one the library's destructors run, on this thread.
  static void release(HMODULE module) noexcept;
};

}  // namespace tidepool::engine
