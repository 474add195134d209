/* Overlapped requests under way. */
#ifndef TIDEPOOL_WIN32_IOAPISET_H
#define TIDEPOOL_WIN32_IOAPISET_H

#include "minwinbase.h"

#define FILE_SKIP_COMPLETION_PORT_ON_SUCCESS 0x1u
#define FILE_SKIP_SET_EVENT_ON_HANDLE 0x2u

/* Asks for the end of one request on `file`, or, without `overlapped`, of all of them. They complete as always, those
   that could be stopped with ERROR_OPERATION_ABORTED. FALSE with ERROR_NOT_FOUND when there is nothing to cancel. A
   request that is being read from or written to a disk may no longer be stopped. */
TIDEPOOL_WIN32_API(BOOL, CancelIoEx, (HANDLE file, LPOVERLAPPED overlapped));

/* The result of a request. While it is under way: waits for its completion, or fails with ERROR_IO_INCOMPLETE. */
TIDEPOOL_WIN32_API(BOOL, GetOverlappedResult, (HANDLE file, LPOVERLAPPED overlapped, LPDWORD transferred, BOOL wait));

/* FILE_SKIP_COMPLETION_PORT_ON_SUCCESS: a request that succeeds at once has no callback. Can not be taken back. */
TIDEPOOL_WIN32_API(BOOL, SetFileCompletionNotificationModes, (HANDLE file, UCHAR modes));

#define HasOverlappedIoCompleted(overlapped) (((DWORD)(overlapped)->Internal) != STATUS_PENDING)

#endif
