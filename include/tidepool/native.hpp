// The native types that tidepool's headers mention, declared as the Windows SDK declares them, so that no header of
// ours includes <windows.h>. Their definitions come from <windows.h> on Windows and from
// <tidepool/win32/windows.h> on Linux.
#pragma once

struct HINSTANCE__;
struct _OVERLAPPED;
struct _RTL_CRITICAL_SECTION;
struct _TP_CALLBACK_ENVIRON_V3;
struct _TP_CALLBACK_INSTANCE;
struct _TP_CLEANUP_GROUP;
struct _TP_IO;
struct _TP_POOL;
struct _TP_TIMER;
struct _TP_WAIT;
struct _TP_WORK;

/// The calling convention of native callbacks (CALLBACK, NTAPI).
#ifdef _WIN32
#define TIDEPOOL_CALLBACK __stdcall
#else
#define TIDEPOOL_CALLBACK
#endif

namespace tidepool::detail {

struct access;  // reaches into the public classes, for the library itself

}  // namespace tidepool::detail

namespace tidepool::native {

using handle = void*;                                     // HANDLE
using module = ::HINSTANCE__*;                            // HMODULE
using critical_section = ::_RTL_CRITICAL_SECTION*;        // PCRITICAL_SECTION
using callback_environment = ::_TP_CALLBACK_ENVIRON_V3*;  // PTP_CALLBACK_ENVIRON
using callback_instance = ::_TP_CALLBACK_INSTANCE*;       // PTP_CALLBACK_INSTANCE
using cleanup_group = ::_TP_CLEANUP_GROUP*;               // PTP_CLEANUP_GROUP
using io = ::_TP_IO*;                                     // PTP_IO
using overlapped = ::_OVERLAPPED*;                        // LPOVERLAPPED
using pool = ::_TP_POOL*;                                 // PTP_POOL
using timer = ::_TP_TIMER*;                               // PTP_TIMER
using wait = ::_TP_WAIT*;                                 // PTP_WAIT
using work = ::_TP_WORK*;                                 // PTP_WORK

// What closes a handle: CloseHandle, FindCloseChangeNotification, ...
using close_routine = int(TIDEPOOL_CALLBACK*)(handle);
// PTP_CLEANUP_GROUP_CANCEL_CALLBACK
using cleanup_group_cancel_callback = void(TIDEPOOL_CALLBACK*)(void* object_context, void* cleanup_context);
// PTP_SIMPLE_CALLBACK
using simple_callback = void(TIDEPOOL_CALLBACK*)(::_TP_CALLBACK_INSTANCE* instance, void* context);
// PTP_WORK_CALLBACK
using work_callback = void(TIDEPOOL_CALLBACK*)(::_TP_CALLBACK_INSTANCE* instance, void* context, ::_TP_WORK* work);

}  // namespace tidepool::native
