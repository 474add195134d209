/* Shared libraries by the names of the Win32 loader. A module handle is what dlopen() returned, and counts its
   references as dlopen() does. One that was not obtained here, or was freed too often, is undefined behaviour. */
#ifndef TIDEPOOL_WIN32_LIBLOADERAPI_H
#define TIDEPOOL_WIN32_LIBLOADERAPI_H

#include "basetypes.h"

#define GET_MODULE_HANDLE_EX_FLAG_PIN 0x00000001u
#define GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT 0x00000002u
#define GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS 0x00000004u

typedef LONG_PTR(WINAPI* FARPROC)(void);

/* Loads with dlopen(RTLD_NOW | RTLD_LOCAL), which also decides where to look. ERROR_MOD_NOT_FOUND when that fails. */
TIDEPOOL_WIN32_API(HMODULE, LoadLibraryA, (LPCSTR file_name));
TIDEPOOL_WIN32_API(HMODULE, LoadLibraryW, (LPCWSTR file_name));

/* Gives one reference back; with the last one the library is unloaded. */
TIDEPOOL_WIN32_API(BOOL, FreeLibrary, (HMODULE module));

/* ERROR_PROC_NOT_FOUND when the module has no such symbol; there are no ordinals. */
TIDEPOOL_WIN32_API(FARPROC, GetProcAddress, (HMODULE module, LPCSTR name));

/* Finds a loaded module by file name or, with FLAG_FROM_ADDRESS, by any address inside it; a null name is the
   program itself. Adds a reference, unless told UNCHANGED_REFCOUNT; PIN keeps the module for the life of the
   process. */
TIDEPOOL_WIN32_API(BOOL, GetModuleHandleExA, (DWORD flags, LPCSTR name, HMODULE* module));
TIDEPOOL_WIN32_API(BOOL, GetModuleHandleExW, (DWORD flags, LPCWSTR name, HMODULE* module));

#ifdef UNICODE
#define LoadLibrary LoadLibraryW
#define GetModuleHandleEx GetModuleHandleExW
#else
#define LoadLibrary LoadLibraryA
#define GetModuleHandleEx GetModuleHandleExA
#endif

#endif
