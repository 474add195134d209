// libloaderapi.h over dlopen() and its relatives.
#include "engine/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstddef>
#include <cstdint>

#include "engine/last_error.hpp"
#include "tidepool/win32/libloaderapi.h"

namespace tidepool::engine {

namespace {

/// The loader knows the program itself by an empty name.
const char* name_for_dlopen(const char* name) noexcept { return name == nullptr || *name == '\0' ? nullptr : name; }

/// Adds a reference to a module that is loaded already; null when it is not.
HMODULE reopen(const char* name, int mode = 0) noexcept {
  return static_cast<HMODULE>(dlopen(name_for_dlopen(name), RTLD_LAZY | RTLD_NOLOAD | mode));
}

}  // namespace

bool module_reference::acquire(HMODULE module) noexcept {
  link_map* map = nullptr;
  return dlinfo(module, RTLD_DI_LINKMAP, &map) == 0 && reopen(map->l_name) != nullptr;
}

void module_reference::release(HMODULE module) noexcept { dlclose(module); }

}  // namespace tidepool::engine

namespace {

using namespace tidepool::engine;

constexpr std::size_t longest_path = PATH_MAX;

/// A UTF-16 string as UTF-8. Null when it is no well-formed UTF-16, or too long for a path.
const char* to_utf8(LPCWSTR wide, char (&narrow)[longest_path]) noexcept {
  char* out = narrow;
  while (*wide != 0) {
    std::uint32_t point = *wide++;
    if (point >= 0xD800 && point < 0xE000) {  // one half of a pair
      const std::uint32_t low = *wide;
      if (point >= 0xDC00 || low < 0xDC00 || low >= 0xE000) {
        return nullptr;
      }
      ++wide;
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    if (narrow + longest_path - out < 5) {
      return nullptr;
    }
    const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xC0 | point >> 6);
      put(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
      put(0xE0 | point >> 12);
      put(0x80 | (point >> 6 & 0x3F));
      put(0x80 | (point & 0x3F));
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
      put(0x80 | (point >> 6 & 0x3F));
      put(0x80 | (point & 0x3F));
    }
  }
  *out = '\0';
  return narrow;
}

/// The name under which the loader keeps the module that `address` is in; null when there is none.
const char* module_name_of(const void* address) noexcept {
  Dl_info info;
  void* map = nullptr;
  if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) {
    return nullptr;
  }
  return static_cast<link_map*>(map)->l_name;
}

BOOL get_module_handle(DWORD flags, const char* name, HMODULE* module) noexcept {
  const bool unchanged = (flags & GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT) != 0;
  const bool pin = (flags & GET_MODULE_HANDLE_EX_FLAG_PIN) != 0;
  *module = reopen(name, pin ? RTLD_NODELETE : 0);
  if (*module == nullptr) {
    return fail(ERROR_MOD_NOT_FOUND);
  }
  if (unchanged || pin) {
    dlclose(*module);
  }
  return TRUE;
}

bool valid_request(DWORD flags, HMODULE* module) noexcept {
  constexpr DWORD known = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT |
                          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  constexpr DWORD exclusive = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (module == nullptr) {
    return false;
  }
  *module = nullptr;
  return (flags & ~known) == 0 && (flags & exclusive) != exclusive;
}

BOOL get_module_handle_of_address(DWORD flags, const void* address, HMODULE* module) noexcept {
  const char* const name = module_name_of(address);
  return name == nullptr ? fail(ERROR_MOD_NOT_FOUND) : get_module_handle(flags, name, module);
}

HMODULE load(const char* file_name) noexcept {
  if (file_name == nullptr || *file_name == '\0') {  // dlopen() would take it for the program itself
    return fail<HMODULE>(ERROR_INVALID_PARAMETER);
  }
  void* const module = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
  return module == nullptr ? fail<HMODULE>(ERROR_MOD_NOT_FOUND) : static_cast<HMODULE>(module);
}

}  // namespace

HMODULE LoadLibraryA(LPCSTR file_name) noexcept { return load(file_name); }

HMODULE LoadLibraryW(LPCWSTR file_name) noexcept {
  char narrow[longest_path];
  return load(file_name == nullptr ? nullptr : to_utf8(file_name, narrow));
}

BOOL FreeLibrary(HMODULE module) noexcept {
  if (module == nullptr || dlclose(module) != 0) {
    return fail(ERROR_INVALID_HANDLE);
  }
  return TRUE;
}

FARPROC GetProcAddress(HMODULE module, LPCSTR name) noexcept {
  if (module == nullptr) {  // dlsym() would search the whole process
    return fail<FARPROC>(ERROR_INVALID_HANDLE);
  }
  constexpr std::uintptr_t last_ordinal = 0xFFFF;
  if (reinterpret_cast<std::uintptr_t>(name) <= last_ordinal) {
    return fail<FARPROC>(ERROR_PROC_NOT_FOUND);
  }
  void* const symbol = dlsym(module, name);
  return symbol == nullptr ? fail<FARPROC>(ERROR_PROC_NOT_FOUND) : reinterpret_cast<FARPROC>(symbol);
}

BOOL GetModuleHandleExA(DWORD flags, LPCSTR name, HMODULE* module) noexcept {
  if (!valid_request(flags, module)) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  return (flags & GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS) != 0 ? get_module_handle_of_address(flags, name, module)
                                                               : get_module_handle(flags, name, module);
}

BOOL GetModuleHandleExW(DWORD flags, LPCWSTR name, HMODULE* module) noexcept {
  if (!valid_request(flags, module)) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  if ((flags & GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS) != 0) {
    return get_module_handle_of_address(flags, name, module);
  }
  if (name == nullptr) {
    return get_module_handle(flags, nullptr, module);
  }
  char narrow[longest_path];
  const char* const file_name = to_utf8(name, narrow);
  return file_name == nullptr ? fail(ERROR_INVALID_PARAMETER) : get_module_handle(flags, file_name, module);
}
