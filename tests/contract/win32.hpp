// The Win32 names under test: the system's on Windows, the engine's on Linux.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include "tidepool/win32/windows.h"
#endif
