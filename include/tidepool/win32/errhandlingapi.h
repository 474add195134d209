/* The calling thread's last error. */
#ifndef TIDEPOOL_WIN32_ERRHANDLINGAPI_H
#define TIDEPOOL_WIN32_ERRHANDLINGAPI_H

#include "basetypes.h"

/* The code that the last failing function left for this thread; zero in a new thread. */
TIDEPOOL_WIN32_API(DWORD, GetLastError, (void));
TIDEPOOL_WIN32_API(VOID, SetLastError, (DWORD code));

#endif
