/* The Win32 thread pool API on Linux: pools, callback environments, work, one-off callbacks, callback
   instances and cleanup groups, as Microsoft documents them for threadpoolapiset.h. */
#ifndef TIDEPOOL_WIN32_THREADPOOLAPISET_H
#define TIDEPOOL_WIN32_THREADPOOLAPISET_H

#include "basetypes.h"
#include "minwinbase.h"
#include "synchapi.h"

typedef DWORD TP_VERSION, *PTP_VERSION;
typedef struct _TP_CALLBACK_INSTANCE TP_CALLBACK_INSTANCE, *PTP_CALLBACK_INSTANCE;
typedef struct _TP_POOL TP_POOL, *PTP_POOL;
typedef struct _TP_WORK TP_WORK, *PTP_WORK;
typedef struct _TP_TIMER TP_TIMER, *PTP_TIMER;
typedef struct _TP_WAIT TP_WAIT, *PTP_WAIT;
typedef struct _TP_IO TP_IO, *PTP_IO;
typedef DWORD TP_WAIT_RESULT;
typedef struct _TP_CLEANUP_GROUP TP_CLEANUP_GROUP, *PTP_CLEANUP_GROUP;

typedef VOID(NTAPI* PTP_SIMPLE_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context);
typedef VOID(NTAPI* PTP_WORK_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK work);
typedef VOID(NTAPI* PTP_TIMER_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_TIMER timer);
typedef VOID(NTAPI* PTP_WAIT_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WAIT wait,
                                       TP_WAIT_RESULT result);
typedef VOID(NTAPI* PTP_WIN32_IO_CALLBACK)(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
                                           ULONG result, ULONG_PTR transferred, PTP_IO io);
typedef VOID(NTAPI* PTP_CLEANUP_GROUP_CANCEL_CALLBACK)(PVOID object_context, PVOID cleanup_context);

typedef enum _TP_CALLBACK_PRIORITY {
  TP_CALLBACK_PRIORITY_HIGH,
  TP_CALLBACK_PRIORITY_NORMAL,
  TP_CALLBACK_PRIORITY_LOW,
  TP_CALLBACK_PRIORITY_INVALID,
  TP_CALLBACK_PRIORITY_COUNT = TP_CALLBACK_PRIORITY_INVALID
} TP_CALLBACK_PRIORITY;

typedef struct _TP_POOL_STACK_INFORMATION {
  SIZE_T StackReserve;
  SIZE_T StackCommit;
} TP_POOL_STACK_INFORMATION, *PTP_POOL_STACK_INFORMATION;

typedef struct _TP_CALLBACK_ENVIRON_V3 {
  TP_VERSION Version;
  PTP_POOL Pool;
  PTP_CLEANUP_GROUP CleanupGroup;
  PTP_CLEANUP_GROUP_CANCEL_CALLBACK CleanupGroupCancelCallback;
  PVOID RaceDll;
  struct _ACTIVATION_CONTEXT* ActivationContext;
  PTP_SIMPLE_CALLBACK FinalizationCallback;
  union {
    DWORD Flags;
    struct {
      DWORD LongFunction : 1;
      DWORD Persistent : 1;
      DWORD Private : 30;
    } s;
  } u;
  TP_CALLBACK_PRIORITY CallbackPriority;
  DWORD Size;
} TP_CALLBACK_ENVIRON_V3;

typedef TP_CALLBACK_ENVIRON_V3 TP_CALLBACK_ENVIRON, *PTP_CALLBACK_ENVIRON;

/* Pools */
TIDEPOOL_WIN32_API(PTP_POOL, CreateThreadpool, (PVOID reserved));
TIDEPOOL_WIN32_API(VOID, CloseThreadpool, (PTP_POOL pool));
TIDEPOOL_WIN32_API(VOID, SetThreadpoolThreadMaximum, (PTP_POOL pool, DWORD maximum));
TIDEPOOL_WIN32_API(BOOL, SetThreadpoolThreadMinimum, (PTP_POOL pool, DWORD minimum));
TIDEPOOL_WIN32_API(BOOL, SetThreadpoolStackInformation, (PTP_POOL pool, PTP_POOL_STACK_INFORMATION information));
TIDEPOOL_WIN32_API(BOOL, QueryThreadpoolStackInformation, (PTP_POOL pool, PTP_POOL_STACK_INFORMATION information));

/* Work and one-off callbacks */
TIDEPOOL_WIN32_API(BOOL, TrySubmitThreadpoolCallback,
                   (PTP_SIMPLE_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment));
TIDEPOOL_WIN32_API(PTP_WORK, CreateThreadpoolWork,
                   (PTP_WORK_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment));
TIDEPOOL_WIN32_API(VOID, SubmitThreadpoolWork, (PTP_WORK work));
TIDEPOOL_WIN32_API(VOID, WaitForThreadpoolWorkCallbacks, (PTP_WORK work, BOOL cancel_pending));
TIDEPOOL_WIN32_API(VOID, CloseThreadpoolWork, (PTP_WORK work));

/* Timers */
TIDEPOOL_WIN32_API(PTP_TIMER, CreateThreadpoolTimer,
                   (PTP_TIMER_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment));
TIDEPOOL_WIN32_API(VOID, SetThreadpoolTimer, (PTP_TIMER timer, PFILETIME due, DWORD period, DWORD window));
TIDEPOOL_WIN32_API(BOOL, SetThreadpoolTimerEx, (PTP_TIMER timer, PFILETIME due, DWORD period, DWORD window));
TIDEPOOL_WIN32_API(BOOL, IsThreadpoolTimerSet, (PTP_TIMER timer));
TIDEPOOL_WIN32_API(VOID, WaitForThreadpoolTimerCallbacks, (PTP_TIMER timer, BOOL cancel_pending));
TIDEPOOL_WIN32_API(VOID, CloseThreadpoolTimer, (PTP_TIMER timer));

/* Waits */
TIDEPOOL_WIN32_API(PTP_WAIT, CreateThreadpoolWait,
                   (PTP_WAIT_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment));
TIDEPOOL_WIN32_API(VOID, SetThreadpoolWait, (PTP_WAIT wait, HANDLE object, PFILETIME time_out));
TIDEPOOL_WIN32_API(BOOL, SetThreadpoolWaitEx, (PTP_WAIT wait, HANDLE object, PFILETIME time_out, PVOID reserved));
TIDEPOOL_WIN32_API(VOID, WaitForThreadpoolWaitCallbacks, (PTP_WAIT wait, BOOL cancel_pending));
TIDEPOOL_WIN32_API(VOID, CloseThreadpoolWait, (PTP_WAIT wait));

/* Overlapped I/O: requests are started by fileapi.h and tpextensions.h */
TIDEPOOL_WIN32_API(PTP_IO, CreateThreadpoolIo,
                   (HANDLE file, PTP_WIN32_IO_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment));
TIDEPOOL_WIN32_API(VOID, StartThreadpoolIo, (PTP_IO io));
TIDEPOOL_WIN32_API(VOID, CancelThreadpoolIo, (PTP_IO io));
TIDEPOOL_WIN32_API(VOID, WaitForThreadpoolIoCallbacks, (PTP_IO io, BOOL cancel_pending));
TIDEPOOL_WIN32_API(VOID, CloseThreadpoolIo, (PTP_IO io));

/* Callback instances */
TIDEPOOL_WIN32_API(BOOL, CallbackMayRunLong, (PTP_CALLBACK_INSTANCE instance));
TIDEPOOL_WIN32_API(VOID, DisassociateCurrentThreadFromCallback, (PTP_CALLBACK_INSTANCE instance));
TIDEPOOL_WIN32_API(VOID, SetEventWhenCallbackReturns, (PTP_CALLBACK_INSTANCE instance, HANDLE event));
TIDEPOOL_WIN32_API(VOID, ReleaseSemaphoreWhenCallbackReturns,
                   (PTP_CALLBACK_INSTANCE instance, HANDLE semaphore, DWORD count));
TIDEPOOL_WIN32_API(VOID, ReleaseMutexWhenCallbackReturns, (PTP_CALLBACK_INSTANCE instance, HANDLE mutex));
TIDEPOOL_WIN32_API(VOID, LeaveCriticalSectionWhenCallbackReturns,
                   (PTP_CALLBACK_INSTANCE instance, PCRITICAL_SECTION critical_section));
TIDEPOOL_WIN32_API(VOID, FreeLibraryWhenCallbackReturns, (PTP_CALLBACK_INSTANCE instance, HMODULE module));

/* Cleanup groups */
TIDEPOOL_WIN32_API(PTP_CLEANUP_GROUP, CreateThreadpoolCleanupGroup, (void));
TIDEPOOL_WIN32_API(VOID, CloseThreadpoolCleanupGroupMembers,
                   (PTP_CLEANUP_GROUP group, BOOL cancel_pending, PVOID cleanup_context));
TIDEPOOL_WIN32_API(VOID, CloseThreadpoolCleanupGroup, (PTP_CLEANUP_GROUP group));

/* Callback environments: inline in the Windows SDK too */
static inline VOID InitializeThreadpoolEnvironment(PTP_CALLBACK_ENVIRON environment) {
  environment->Version = 3;
  environment->Pool = NULL;
  environment->CleanupGroup = NULL;
  environment->CleanupGroupCancelCallback = NULL;
  environment->RaceDll = NULL;
  environment->ActivationContext = NULL;
  environment->FinalizationCallback = NULL;
  environment->u.Flags = 0;
  environment->CallbackPriority = TP_CALLBACK_PRIORITY_NORMAL;
  environment->Size = sizeof(TP_CALLBACK_ENVIRON);
}

static inline VOID DestroyThreadpoolEnvironment(PTP_CALLBACK_ENVIRON environment) { (void)environment; }

static inline VOID SetThreadpoolCallbackPool(PTP_CALLBACK_ENVIRON environment, PTP_POOL pool) {
  environment->Pool = pool;
}

static inline VOID SetThreadpoolCallbackCleanupGroup(PTP_CALLBACK_ENVIRON environment, PTP_CLEANUP_GROUP group,
                                                     PTP_CLEANUP_GROUP_CANCEL_CALLBACK cancel_callback) {
  environment->CleanupGroup = group;
  environment->CleanupGroupCancelCallback = cancel_callback;
}

static inline VOID SetThreadpoolCallbackRunsLong(PTP_CALLBACK_ENVIRON environment) {
  environment->u.s.LongFunction = 1;
}

static inline VOID SetThreadpoolCallbackPersistent(PTP_CALLBACK_ENVIRON environment) {
  environment->u.s.Persistent = 1;
}

static inline VOID SetThreadpoolCallbackLibrary(PTP_CALLBACK_ENVIRON environment, PVOID module) {
  environment->RaceDll = module;
}

static inline VOID SetThreadpoolCallbackPriority(PTP_CALLBACK_ENVIRON environment, TP_CALLBACK_PRIORITY priority) {
  environment->CallbackPriority = priority;
}

#endif
