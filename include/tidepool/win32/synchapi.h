/* Events, semaphores, mutexes, critical sections, and waiting.

   Objects are private to the process: a name that is not null fails with ERROR_NOT_SUPPORTED. Security attributes
   and access masks are ignored. Creation sets the last error, to ERROR_SUCCESS when it succeeds. */
#ifndef TIDEPOOL_WIN32_SYNCHAPI_H
#define TIDEPOOL_WIN32_SYNCHAPI_H

#include "basetypes.h"

#define WAIT_OBJECT_0 0x00000000u
#define WAIT_ABANDONED 0x00000080u
#define WAIT_ABANDONED_0 0x00000080u
#define WAIT_TIMEOUT 0x00000102u
#define WAIT_FAILED 0xFFFFFFFFu
#define MAXIMUM_WAIT_OBJECTS 64

#define CREATE_EVENT_MANUAL_RESET 0x00000001u
#define CREATE_EVENT_INITIAL_SET 0x00000002u
#define CREATE_MUTEX_INITIAL_OWNER 0x00000001u

#define SYNCHRONIZE 0x00100000u
#define EVENT_MODIFY_STATE 0x00000002u
#define EVENT_ALL_ACCESS 0x001F0003u
#define SEMAPHORE_MODIFY_STATE 0x00000002u
#define SEMAPHORE_ALL_ACCESS 0x001F0003u
#define MUTEX_MODIFY_STATE 0x00000001u
#define MUTEX_ALL_ACCESS 0x001F0001u

/* Events. A manual-reset event stays set until it is reset; an automatic one is reset by the one wait it releases. */
TIDEPOOL_WIN32_API(HANDLE, CreateEventA,
                   (LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initially_set, LPCSTR name));
TIDEPOOL_WIN32_API(HANDLE, CreateEventW,
                   (LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, BOOL initially_set, LPCWSTR name));
TIDEPOOL_WIN32_API(HANDLE, CreateEventExA, (LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access));
TIDEPOOL_WIN32_API(HANDLE, CreateEventExW, (LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access));
TIDEPOOL_WIN32_API(BOOL, SetEvent, (HANDLE event));
TIDEPOOL_WIN32_API(BOOL, ResetEvent, (HANDLE event));

/* Semaphores. ReleaseSemaphore fails with ERROR_TOO_MANY_POSTS, and changes nothing, when the count would exceed the
   maximum; `previous_count` may be null. */
TIDEPOOL_WIN32_API(HANDLE, CreateSemaphoreA,
                   (LPSECURITY_ATTRIBUTES attributes, LONG initial_count, LONG maximum_count, LPCSTR name));
TIDEPOOL_WIN32_API(HANDLE, CreateSemaphoreW,
                   (LPSECURITY_ATTRIBUTES attributes, LONG initial_count, LONG maximum_count, LPCWSTR name));
TIDEPOOL_WIN32_API(BOOL, ReleaseSemaphore, (HANDLE semaphore, LONG release_count, LPLONG previous_count));

/* Mutexes. Recursive: the owner's waits succeed at once, and each needs its ReleaseMutex, which fails with
   ERROR_NOT_OWNER on any other thread. When a thread ends as owner, the next wait gets the mutex with
   WAIT_ABANDONED. */
TIDEPOOL_WIN32_API(HANDLE, CreateMutexA, (LPSECURITY_ATTRIBUTES attributes, BOOL initially_owned, LPCSTR name));
TIDEPOOL_WIN32_API(HANDLE, CreateMutexW, (LPSECURITY_ATTRIBUTES attributes, BOOL initially_owned, LPCWSTR name));
TIDEPOOL_WIN32_API(HANDLE, CreateMutexExA, (LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access));
TIDEPOOL_WIN32_API(HANDLE, CreateMutexExW, (LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access));
TIDEPOOL_WIN32_API(BOOL, ReleaseMutex, (HANDLE mutex));

/* Waiting. Time-outs are in milliseconds of the monotonic clock and never end early; INFINITE never ends. Waiters of
   one object are served in the order they came. There are no asynchronous procedure calls on this system, so
   `alertable` changes nothing. Waiting for all takes no object until it takes all of them at once. */
TIDEPOOL_WIN32_API(DWORD, WaitForSingleObject, (HANDLE object, DWORD milliseconds));
TIDEPOOL_WIN32_API(DWORD, WaitForSingleObjectEx, (HANDLE object, DWORD milliseconds, BOOL alertable));
TIDEPOOL_WIN32_API(DWORD, WaitForMultipleObjects,
                   (DWORD count, const HANDLE* objects, BOOL wait_all, DWORD milliseconds));
TIDEPOOL_WIN32_API(DWORD, WaitForMultipleObjectsEx,
                   (DWORD count, const HANDLE* objects, BOOL wait_all, DWORD milliseconds, BOOL alertable));
TIDEPOOL_WIN32_API(VOID, Sleep, (DWORD milliseconds));

/* Critical sections: recursive locks without a handle. The layout is the engine's own, of the size it has on 64-bit
   Windows: a lock word, the recursion count, the owner, the spin count, one word to spare. A section must be
   initialised before use and neither copied nor moved while in use. */
typedef struct _RTL_CRITICAL_SECTION {
  ULONG_PTR Reserved[5];
} RTL_CRITICAL_SECTION, *PRTL_CRITICAL_SECTION;
typedef RTL_CRITICAL_SECTION CRITICAL_SECTION;
typedef PRTL_CRITICAL_SECTION PCRITICAL_SECTION, LPCRITICAL_SECTION;

TIDEPOOL_WIN32_API(VOID, InitializeCriticalSection, (LPCRITICAL_SECTION section));
TIDEPOOL_WIN32_API(BOOL, InitializeCriticalSectionAndSpinCount, (LPCRITICAL_SECTION section, DWORD spin_count));
TIDEPOOL_WIN32_API(BOOL, InitializeCriticalSectionEx, (LPCRITICAL_SECTION section, DWORD spin_count, DWORD flags));
TIDEPOOL_WIN32_API(DWORD, SetCriticalSectionSpinCount, (LPCRITICAL_SECTION section, DWORD spin_count));
TIDEPOOL_WIN32_API(VOID, EnterCriticalSection, (LPCRITICAL_SECTION section));
TIDEPOOL_WIN32_API(BOOL, TryEnterCriticalSection, (LPCRITICAL_SECTION section));
TIDEPOOL_WIN32_API(VOID, LeaveCriticalSection, (LPCRITICAL_SECTION section));
TIDEPOOL_WIN32_API(VOID, DeleteCriticalSection, (LPCRITICAL_SECTION section));

/* The calling thread's number, as other tools on this system show it. */
TIDEPOOL_WIN32_API(DWORD, GetCurrentThreadId, (void));

/* Gives the processor to another thread that is ready to run on it. True when there was one. */
TIDEPOOL_WIN32_API(BOOL, SwitchToThread, (void));

#ifdef UNICODE
#define CreateEvent CreateEventW
#define CreateEventEx CreateEventExW
#define CreateSemaphore CreateSemaphoreW
#define CreateMutex CreateMutexW
#define CreateMutexEx CreateMutexExW
#else
#define CreateEvent CreateEventA
#define CreateEventEx CreateEventExA
#define CreateSemaphore CreateSemaphoreA
#define CreateMutex CreateMutexA
#define CreateMutexEx CreateMutexExA
#endif

#endif
