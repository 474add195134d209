#include "engine/io.hpp"

#include "engine/fork.hpp"
#include "engine/handle_table.hpp"
#include "engine/instance.hpp"
#include "engine/probes.hpp"
#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

bool _TP_IO::drop() noexcept {
  const std::size_t dropped = target_.forget(*this);
  for (std::size_t i = 0; i != dropped; ++i) {
    settle();
  }
  return dropped != 0;
}

void _TP_IO::run(worker& on, OVERLAPPED& overlapped, DWORD error, std::size_t done) noexcept {
  completion of{&overlapped, error, done};
  _TP_CALLBACK_INSTANCE instance(on, this);
  instance.subject = &of;
  TIDEPOOL_PROBE(dispatch__start, this, &on.pool);
  run_with_settings(on, instance);
  if (end_run(on, this, instance)) {
    settle();
  }
}

void _TP_IO::call(_TP_CALLBACK_INSTANCE& instance) noexcept {
  const completion of = *static_cast<const completion*>(instance.subject);
  callback_(&instance, context, of.overlapped, of.error, of.done, this);
}

// ---- the Win32 functions -------------------------------------------------------------------------------

PTP_IO CreateThreadpoolIo(HANDLE handle, PTP_WIN32_IO_CALLBACK callback, PVOID context,
                          PTP_CALLBACK_ENVIRON environment) noexcept {
  const object_pin pin{handle};
  callback_settings settings{};
  if (!pin || pin->kind != object_kind::file) {
    return fail<PTP_IO>(ERROR_INVALID_HANDLE);
  }
  if (callback == nullptr || !static_cast<file_object&>(*pin).target.overlapped_use) {
    return fail<PTP_IO>(ERROR_INVALID_PARAMETER);
  }
  if (!callback_settings::read(environment, settings)) {
    return nullptr;
  }
  auto* const io = new (std::nothrow) _TP_IO(callback, context, settings, static_cast<file_object&>(*pin).target);
  if (io == nullptr) {
    return fail<PTP_IO>(ERROR_NOT_ENOUGH_MEMORY);
  }
  io->start();  // a group that is released meanwhile waits for it
  io->join_group();
  const bool bound = io->bind();
  if (!bound) {
    io->close();
  }
  io->cancel_start();
  return bound ? io : fail<PTP_IO>(ERROR_INVALID_PARAMETER);
}

VOID StartThreadpoolIo(PTP_IO io) noexcept {
  require_threads();
  io->start();
}

VOID CancelThreadpoolIo(PTP_IO io) noexcept { io->cancel_start(); }

VOID WaitForThreadpoolIoCallbacks(PTP_IO io, BOOL cancel_pending) noexcept {
  if (cancel_pending) {
    io->drop();
  }
  io->wait();
}

// It stays bound as long as it lives: a start may still be followed by its request.
VOID CloseThreadpoolIo(PTP_IO io) noexcept { io->close(); }
