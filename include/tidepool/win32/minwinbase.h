/* The control block of an overlapped request. */
#ifndef TIDEPOOL_WIN32_MINWINBASE_H
#define TIDEPOOL_WIN32_MINWINBASE_H

#include "basetypes.h"

/* One request. It belongs to the system from the call that starts the request until its completion: it must neither
   move nor be reused before. `hEvent`, an event or null, is reset when the request starts and set when it is complete.
   Internal is STATUS_PENDING until then; what else the first two members hold is the system's business:
   GetOverlappedResult reads it. */
typedef struct _OVERLAPPED {
  ULONG_PTR Internal;
  ULONG_PTR InternalHigh;
  __extension__ union {
    __extension__ struct {
      DWORD Offset;
      DWORD OffsetHigh;
    };
    PVOID Pointer;
  };
  HANDLE hEvent;
} OVERLAPPED, *LPOVERLAPPED;

#define STATUS_PENDING 0x00000103u

#endif
