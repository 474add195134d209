#include "support/keep_loaded.hpp"

#ifdef _WIN32
#include "win32.hpp"
#else
#include <dlfcn.h>
#endif

namespace tidepool::support {

bool keep_loaded(const void* address) noexcept {
#ifdef _WIN32
  HMODULE module = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                            static_cast<LPCWSTR>(address), &module) != FALSE;
#else
  Dl_info here;
  if (dladdr(address, &here) == 0 || here.dli_fname == nullptr) {
    return true;  // in none
  }
  static_cast<void>(dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));  // fails for the program itself
  return true;
#endif
}

}  // namespace tidepool::support
