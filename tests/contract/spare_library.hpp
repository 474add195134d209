// A library to load and free.
#pragma once

#include "contract/win32.hpp"

namespace contract {

/// A library of the system that nothing else in this process uses.
#ifdef _WIN32
inline constexpr const char* spare_library = "version.dll";
#else
inline constexpr const char* spare_library = "libBrokenLocale.so.1";
#endif

[[nodiscard]] inline bool is_loaded(const char* library) {
  HMODULE found = nullptr;
  return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, library, &found) != FALSE;
}

}  // namespace contract
