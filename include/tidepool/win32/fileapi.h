/* Files. Paths are those of the system: '/' separates, and UTF-8 is what the ...A functions take. */
#ifndef TIDEPOOL_WIN32_FILEAPI_H
#define TIDEPOOL_WIN32_FILEAPI_H

#include "minwinbase.h"

#define GENERIC_READ 0x80000000u
#define GENERIC_WRITE 0x40000000u
#define FILE_SHARE_READ 0x00000001u
#define FILE_SHARE_WRITE 0x00000002u
#define FILE_SHARE_DELETE 0x00000004u

#define CREATE_NEW 1u
#define CREATE_ALWAYS 2u
#define OPEN_EXISTING 3u
#define OPEN_ALWAYS 4u
#define TRUNCATE_EXISTING 5u

#define FILE_ATTRIBUTE_NORMAL 0x00000080u
#define FILE_FLAG_WRITE_THROUGH 0x80000000u
#define FILE_FLAG_OVERLAPPED 0x40000000u
#define FILE_FLAG_NO_BUFFERING 0x20000000u
#define FILE_FLAG_RANDOM_ACCESS 0x10000000u
#define FILE_FLAG_SEQUENTIAL_SCAN 0x08000000u

typedef struct _SECURITY_ATTRIBUTES *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

/* Opens a regular file, or a device or named pipe of the file system. INVALID_HANDLE_VALUE, with the last error set,
   when that fails. `sharing`, `security` and `model` are ignored: Linux has no share modes, and a new file gets the
   permissions that the umask leaves of 0666. A directory is ERROR_ACCESS_DENIED; flags that are not defined above are
   ERROR_INVALID_PARAMETER. */
TIDEPOOL_WIN32_API(HANDLE, CreateFileA,
                   (LPCSTR path, DWORD access, DWORD sharing, LPSECURITY_ATTRIBUTES security, DWORD disposition,
                    DWORD flags, HANDLE model));
TIDEPOOL_WIN32_API(HANDLE, CreateFileW,
                   (LPCWSTR path, DWORD access, DWORD sharing, LPSECURITY_ATTRIBUTES security, DWORD disposition,
                    DWORD flags, HANDLE model));

/* With `overlapped`: starts a request, on a handle made with FILE_FLAG_OVERLAPPED. Files use its offset; pipes and sockets
   ignore it. FALSE with ERROR_IO_PENDING is the normal answer; TRUE means that it is complete already (and its callback
   still comes, unless SetFileCompletionNotificationModes says otherwise); anything else, that there is no request.
   Without: reads or writes at the position of the file, and returns when done; on a handle made without that flag.

   Reading at or past the end of a file fails with ERROR_HANDLE_EOF, from a pipe whose other end is closed with
   ERROR_BROKEN_PIPE; from a socket whose peer has stopped sending it succeeds with 0 bytes. Writing is complete when
   everything is written. Requests on the same pipe or socket are served in the order in which they were started. */
TIDEPOOL_WIN32_API(BOOL, ReadFile, (HANDLE file, LPVOID buffer, DWORD length, LPDWORD read, LPOVERLAPPED overlapped));
TIDEPOOL_WIN32_API(BOOL, WriteFile,
                   (HANDLE file, LPCVOID buffer, DWORD length, LPDWORD written, LPOVERLAPPED overlapped));

TIDEPOOL_WIN32_API(BOOL, GetFileSizeEx, (HANDLE file, PLARGE_INTEGER size));

#endif
