/* All of tidepool's Win32 names. With this folder on the include path, existing thread pool code that
   says #include <windows.h> compiles unchanged. */
#ifndef TIDEPOOL_WIN32_WINDOWS_H
#define TIDEPOOL_WIN32_WINDOWS_H

#include "basetypes.h"
#include "errhandlingapi.h"
#include "fileapi.h"
#include "handleapi.h"
#include "ioapiset.h"
#include "libloaderapi.h"
#include "synchapi.h"
#include "threadpoolapiset.h"
#include "winerror.h"

#endif
