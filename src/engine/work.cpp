#include "engine/work.hpp"

#include <new>

#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

PTP_WORK CreateThreadpoolWork(PTP_WORK_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment) noexcept {
  return create_object<_TP_WORK>(callback, context, environment);
}

VOID SubmitThreadpoolWork(PTP_WORK work) noexcept { work->submit(); }

VOID WaitForThreadpoolWorkCallbacks(PTP_WORK work, BOOL cancel_pending) noexcept {
  if (cancel_pending) {
    work->cancel();
  }
  work->wait();
}

VOID CloseThreadpoolWork(PTP_WORK work) noexcept { work->close(); }
