#include "engine/instance.hpp"

#include "engine/callback_object.hpp"
#include "engine/pool.hpp"
#include "tidepool/win32/windows.h"

void _TP_CALLBACK_INSTANCE::complete_asked() noexcept {
  if (critical_section != nullptr) {
    LeaveCriticalSection(critical_section);
  }
  if (mutex != nullptr) {
    ReleaseMutex(mutex);
  }
  if (semaphore != nullptr) {
    ReleaseSemaphore(semaphore, static_cast<LONG>(semaphore_count), nullptr);
  }
  if (event != nullptr) {
    SetEvent(event);
  }
  if (library != nullptr) {
    FreeLibrary(library);
  }
}

BOOL CallbackMayRunLong(PTP_CALLBACK_INSTANCE instance) noexcept {
  _TP_POOL& pool = instance->worker.pool;
  if (!pool.has_reserve()) {
    SetLastError(ERROR_MAX_THRDS_REACHED);
    return FALSE;
  }
  pool.excuse(instance->worker);  // until the callback returns
  return TRUE;
}

VOID DisassociateCurrentThreadFromCallback(PTP_CALLBACK_INSTANCE instance) noexcept {
  if (tidepool::engine::callback_object* const object = instance->object) {
    object->disassociate(instance->worker, *instance);
  }
}

VOID SetEventWhenCallbackReturns(PTP_CALLBACK_INSTANCE instance, HANDLE event) noexcept {
  instance->ask();
  instance->event = event;
}

VOID ReleaseSemaphoreWhenCallbackReturns(PTP_CALLBACK_INSTANCE instance, HANDLE semaphore, DWORD count) noexcept {
  instance->ask();
  instance->semaphore = semaphore;
  instance->semaphore_count = count;
}

VOID ReleaseMutexWhenCallbackReturns(PTP_CALLBACK_INSTANCE instance, HANDLE mutex) noexcept {
  instance->ask();
  instance->mutex = mutex;
}

VOID LeaveCriticalSectionWhenCallbackReturns(PTP_CALLBACK_INSTANCE instance,
                                             PCRITICAL_SECTION critical_section) noexcept {
  instance->ask();
  instance->critical_section = critical_section;
}

VOID FreeLibraryWhenCallbackReturns(PTP_CALLBACK_INSTANCE instance, HMODULE module) noexcept {
  instance->ask();
  instance->library = module;
}
