/* Handles to the engine's objects.

   A handle is a number, never an address: it names a place in a table and the generation of that place. It is neither
   null nor INVALID_HANDLE_VALUE, and its two low bits are clear, and ignored where a handle is taken, so that a program
   can use them as marks. Every function that takes a handle checks it: null, a closed handle, or any other number gives
   ERROR_INVALID_HANDLE, and so does a handle to the wrong kind of object. A closed handle's number does not come back.
   The other 62 bits all count: unlike on Windows a handle does not survive truncation to 32 bits.

   Handles belong to the process and are not inherited; there are no access rights, every handle may do everything.
   An object lives as long as a handle to it, or a wait on it, does. */
#ifndef TIDEPOOL_WIN32_HANDLEAPI_H
#define TIDEPOOL_WIN32_HANDLEAPI_H

#include "basetypes.h"

#define DUPLICATE_CLOSE_SOURCE 0x00000001u
#define DUPLICATE_SAME_ACCESS 0x00000002u

/* A thread that waits on the object meanwhile goes on waiting, and can still be released through another handle. */
TIDEPOOL_WIN32_API(BOOL, CloseHandle, (HANDLE handle));

/* Makes a second handle to the same object. Both processes must be GetCurrentProcess(); `access` and `inherit` are
   ignored. DUPLICATE_CLOSE_SOURCE closes `source`, whether or not the duplicate could be made. Without a place to put
   it (`target` is null) no duplicate is made. */
TIDEPOOL_WIN32_API(BOOL, DuplicateHandle,
                   (HANDLE source_process, HANDLE source, HANDLE target_process, LPHANDLE target, DWORD access,
                    BOOL inherit, DWORD options));

/* True when both handles name the same object. Otherwise the last error is ERROR_NOT_SAME_OBJECT, or
   ERROR_INVALID_HANDLE. */
TIDEPOOL_WIN32_API(BOOL, CompareObjectHandles, (HANDLE first, HANDLE second));

/* The pseudo-handle that DuplicateHandle takes; no other function knows it. */
TIDEPOOL_WIN32_API(HANDLE, GetCurrentProcess, (void));

#endif
