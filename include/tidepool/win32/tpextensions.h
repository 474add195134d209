/* What the engine offers beyond threadpoolapiset.h. Nothing here exists on Windows. */
#ifndef TIDEPOOL_WIN32_TPEXTENSIONS_H
#define TIDEPOOL_WIN32_TPEXTENSIONS_H

#include "threadpoolapiset.h"

typedef enum _TIDEPOOL_POOL_KIND {
  TidepoolDefaultPool,
  TidepoolPrivatePool, /* of CreateThreadpool */
  TidepoolFilePool     /* the engine's own, for requests on files that block; on the portable path */
} TIDEPOOL_POOL_KIND;

typedef struct _TIDEPOOL_POOL_STATISTICS {
  PTP_POOL Pool; /* to tell pools apart; not to be used unless it is known to be open */
  TIDEPOOL_POOL_KIND Kind;
  DWORD Threads;             /* threads of the pool, those being started included */
  DWORD IdleThreads;         /* of them, those without a callback to run */
  DWORD StartingThreads;     /* of them, those that the system has been asked for and that have not begun */
  DWORD BlockedThreads;      /* of them, those whose callback the pool has found to be held up */
  ULONGLONG PortDepth;       /* entries of the completion port; a work object has one for all of its submissions */
  ULONGLONG QueuedCallbacks; /* submitted and not yet started, on the port or taken by a thread */
  ULONGLONG CallbacksRun;    /* finished since the pool was made */
  DWORD Minimum;
  DWORD Maximum;
  DWORD Concurrency; /* how many threads that are not held up are to run at once: the processors */
  DWORD IdleTimeout; /* milliseconds */
  BOOL MayCreate;    /* the maximum allows another thread */
  BOOL Scheduled;    /* a thread is on its way to the port, or looks at it every now and then */
} TIDEPOOL_POOL_STATISTICS;

/* A snapshot of `pool` (null: the default pool). It is taken with the pool's lock held, but threads finish callbacks and
   take from their own queues meanwhile, so the figures need not add up. Takes longer the more is queued. */
TIDEPOOL_WIN32_API(VOID, TidepoolQueryPoolStatistics, (PTP_POOL pool, TIDEPOOL_POOL_STATISTICS* statistics));

/* Snapshots of the first `count` pools of the process, taken one after the other: the default pool, then the others, the
   newest first. Returns how many pools there are, so that a caller whose `count` was too small can try again. */
TIDEPOOL_WIN32_API(DWORD, TidepoolQueryPools, (TIDEPOOL_POOL_STATISTICS * statistics, DWORD count));

/* As TrySubmitThreadpoolCallback with the address of a copy of `count` (at most TIDEPOOL_MOST_CLOSURE_WORDS) words
   as the context: it is valid until the callback returns, and aligned for any type. Needs no memory but what the
   queue needs. Fails with ERROR_NOT_SUPPORTED when `environment` asks for more than a pool and a priority. */
#define TIDEPOOL_MOST_CLOSURE_WORDS 4
TIDEPOOL_WIN32_API(BOOL, TidepoolTrySubmitClosure,
                   (PTP_SIMPLE_CALLBACK callback, const ULONGLONG* words, DWORD count,
                    PTP_CALLBACK_ENVIRON environment));

/* A waitable handle for a descriptor that can be polled: an eventfd, timerfd, pidfd, socket, pipe and the like. The
   object is signalled while reading would not block, at the end of a stream and after an error included, and is not
   changed by being waited for. It owns a duplicate: `descriptor` stays the caller's, who may close it. NULL, with the
   last error ERROR_INVALID_HANDLE for what is no descriptor, ERROR_NOT_SUPPORTED for one that can not be polled, such as
   that of a regular file. */
TIDEPOOL_WIN32_API(HANDLE, TidepoolCreateDescriptorObject, (int descriptor));

/* An eventfd that is readable while `event` is set, for use in a poll loop of your own; it is made by the first call.
   Do not read or write it: use ResetEvent, or wait. It belongs to the event, and is closed with it. -1, with the last
   error set, when `event` is none or there is no descriptor left. */
TIDEPOOL_WIN32_API(int, TidepoolEventDescriptor, (HANDLE event));

/* A handle for overlapped I/O on a descriptor of a regular file, pipe, stream socket or terminal. It takes the descriptor
   over, and makes that of a pipe or socket non-blocking. NULL, with the last error set and the descriptor still the
   caller's, for any other. */
TIDEPOOL_WIN32_API(HANDLE, TidepoolOpenDescriptor, (int descriptor));

/* The descriptor behind such a handle, or one of CreateFile. It stays the handle's. -1 for other handles. */
TIDEPOOL_WIN32_API(int, TidepoolDescriptorOf, (HANDLE file));

/* As ReadFile and WriteFile with a buffer in several parts. `parts` has to stay where it is until the completion. */
struct iovec;
TIDEPOOL_WIN32_API(BOOL, TidepoolReadVector,
                   (HANDLE file, const struct iovec* parts, DWORD count, LPOVERLAPPED overlapped));
TIDEPOOL_WIN32_API(BOOL, TidepoolWriteVector,
                   (HANDLE file, const struct iovec* parts, DWORD count, LPOVERLAPPED overlapped));

/* Accepts a connection on a listening socket. The number of bytes transferred is its descriptor, non-blocking, which
   belongs to whoever gets the completion. */
TIDEPOOL_WIN32_API(BOOL, TidepoolAccept, (HANDLE listener, LPOVERLAPPED overlapped));

/* Connects a stream socket to a struct sockaddr of `length` bytes, which is copied. */
TIDEPOOL_WIN32_API(BOOL, TidepoolConnect, (HANDLE socket, LPCVOID address, DWORD length, LPOVERLAPPED overlapped));

/* By what requests on files are carried out. The environment variable TIDEPOOL_IO chooses, read once: `auto` (what there
   is), `uring` (fails where the kernel has none), `portable`. */
typedef enum _TIDEPOOL_IO_PATH { TidepoolIoPortable, TidepoolIoUring } TIDEPOOL_IO_PATH;
TIDEPOOL_WIN32_API(TIDEPOOL_IO_PATH, TidepoolIoPath, (void));

/* Whether the kernel gives this process an io_uring that will do, whatever TIDEPOOL_IO says: 0, or the errno of its
   refusal (EOPNOTSUPP: it lacks features that are needed). */
TIDEPOOL_WIN32_API(int, TidepoolIoUringError, (void));

/* How often an alarm of the timers has gone off in this process. */
TIDEPOOL_WIN32_API(ULONGLONG, TidepoolAlarms, (void));

/* How long a worker of `pool` (null: the default pool) stays without work before it leaves, in
   milliseconds. Takes effect for workers that become idle from now on. */
TIDEPOOL_WIN32_API(VOID, TidepoolSetPoolIdleTimeout, (PTP_POOL pool, DWORD milliseconds));

#endif
