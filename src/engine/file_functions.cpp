// fileapi.h and ioapiset.h: requests, their results, cancelling them.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "engine/disk_file.hpp"
#include "engine/event.hpp"
#include "engine/handle_table.hpp"
#include "engine/io_path.hpp"
#include "engine/stream.hpp"
#include "engine/system_error.hpp"
#include "engine/without_sigpipe.hpp"
#include "support/block_cache.hpp"
#include "tidepool/win32/tpextensions.h"
#include "tidepool/win32/windows.h"

using namespace tidepool::engine;

namespace {

using operation = io_request::operation;

std::uint64_t offset_of(const OVERLAPPED& overlapped) noexcept {
  return std::uint64_t{overlapped.OffsetHigh} << 32 | overlapped.Offset;
}

/// `prepare(io_request&)` says what is asked for.
template <class Prepare>
BOOL start(HANDLE handle, operation what, OVERLAPPED* overlapped, DWORD* done, Prepare prepare) noexcept {
  return with_object<file_object>(handle, [&](file_object& object) noexcept -> BOOL {
    if (overlapped == nullptr) {
      return fail(ERROR_INVALID_PARAMETER);
    }
    const file::start_result result = object.target.start(what, *overlapped, prepare);
    switch (result.how) {
      case file::started::pending: return fail(ERROR_IO_PENDING);
      case file::started::refused: return fail(result.error);
      case file::started::complete: break;
    }
    if (done != nullptr) {
      *done = static_cast<DWORD>(result.done);
    }
    return TRUE;
  });
}

BOOL start_transfer(HANDLE handle, operation what, void* buffer, DWORD length, DWORD* done,
                    OVERLAPPED* overlapped) noexcept {
  return start(handle, what, overlapped, done, [&](io_request& request) noexcept {
    request.set_buffer(buffer, length);
    request.offset = offset_of(*overlapped);
  });
}

BOOL start_transfer(HANDLE handle, operation what, const iovec* parts, DWORD count, OVERLAPPED* overlapped) noexcept {
  if (parts == nullptr && count != 0) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  return start(handle, what, overlapped, nullptr, [&](io_request& request) noexcept {
    request.set_parts(parts, count);
    request.offset = offset_of(*overlapped);
  });
}

/// On a handle that is not for overlapped use: at the position of the file, or at the offset of an OVERLAPPED, and then the
/// position follows. Until it is done.
class plain_transfer {
 public:
  plain_transfer(file& target, operation what, OVERLAPPED* overlapped) noexcept
      : target_(target), what_(what), overlapped_(overlapped) {}

  BOOL run(char* buffer, DWORD length, DWORD* done) noexcept {
    DWORD error = ERROR_SUCCESS;
    if (what_ == operation::read) {
      error = transfer(buffer, length);
      if (error == ERROR_SUCCESS && done_ == 0 && length != 0) {
        error = target_.is_pipe ? ERROR_BROKEN_PIPE : overlapped_ != nullptr ? ERROR_HANDLE_EOF : ERROR_SUCCESS;
      }
    } else {
      while (error == ERROR_SUCCESS && done_ != length) {
        error = transfer(buffer + done_, length - done_);
      }
    }
    if (done != nullptr) {
      *done = done_;
    }
    if (overlapped_ != nullptr) {
      lseek(target_.descriptor, position(), SEEK_SET);
      const object_pin event{overlapped_->hEvent};
      publish_result(*overlapped_,
                     event && event->kind == object_kind::event ? &static_cast<event_object&>(*event) : nullptr, error,
                     done_);
    }
    return error == ERROR_SUCCESS ? TRUE : fail(error);
  }

 private:
  [[nodiscard]] off_t position() const noexcept { return static_cast<off_t>(offset_of(*overlapped_) + done_); }

  DWORD transfer(char* buffer, DWORD length) noexcept {
    ssize_t result;
    do {
      result = call(buffer, length);
    } while (result < 0 && errno == EINTR);
    if (result < 0) {
      return win32_error_of(errno);
    }
    done_ += static_cast<DWORD>(result);
    return ERROR_SUCCESS;
  }

  ssize_t call(char* buffer, DWORD length) noexcept {
    const int descriptor = target_.descriptor;
    if (overlapped_ != nullptr && !target_.is_pipe) {
      return what_ == operation::read ? pread(descriptor, buffer, length, position())
                                      : pwrite(descriptor, buffer, length, position());
    }
    if (what_ == operation::read) {
      return read(descriptor, buffer, length);
    }
    if (!target_.is_pipe) {
      return write(descriptor, buffer, length);
    }
    const without_sigpipe guard;
    return write(descriptor, buffer, length);
  }

  file& target_;
  const operation what_;
  OVERLAPPED* const overlapped_;
  DWORD done_ = 0;
};

BOOL transfer(HANDLE handle, operation what, void* buffer, DWORD length, DWORD* done, OVERLAPPED* overlapped) noexcept {
  if (done != nullptr) {
    *done = 0;
  }
  const object_pin pin{handle};
  if (pin && pin->kind == object_kind::file) {
    file& target = static_cast<file_object&>(*pin).target;
    if (!target.overlapped_use) {
      return plain_transfer(target, what, overlapped).run(static_cast<char*>(buffer), length, done);
    }
  }
  return start_transfer(handle, what, buffer, length, done, overlapped);
}

}  // namespace

BOOL ReadFile(HANDLE handle, LPVOID buffer, DWORD length, LPDWORD done, LPOVERLAPPED overlapped) noexcept {
  return transfer(handle, operation::read, buffer, length, done, overlapped);
}

BOOL WriteFile(HANDLE handle, LPCVOID buffer, DWORD length, LPDWORD done, LPOVERLAPPED overlapped) noexcept {
  return transfer(handle, operation::write, const_cast<void*>(buffer), length, done, overlapped);
}

BOOL TidepoolReadVector(HANDLE handle, const iovec* parts, DWORD count, LPOVERLAPPED overlapped) noexcept {
  return start_transfer(handle, operation::read, parts, count, overlapped);
}

BOOL TidepoolWriteVector(HANDLE handle, const iovec* parts, DWORD count, LPOVERLAPPED overlapped) noexcept {
  return start_transfer(handle, operation::write, parts, count, overlapped);
}

BOOL TidepoolAccept(HANDLE listener, LPOVERLAPPED overlapped) noexcept {
  return start(listener, operation::accept, overlapped, nullptr, [](io_request&) noexcept {});
}

BOOL TidepoolConnect(HANDLE socket, LPCVOID address, DWORD length, LPOVERLAPPED overlapped) noexcept {
  if (address == nullptr || length < sizeof(sa_family_t) || length > sizeof(sockaddr_storage)) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  void* const copy = tidepool::support::allocate_block(sizeof(sockaddr_storage));
  if (copy == nullptr) {
    return fail(ERROR_NOT_ENOUGH_MEMORY);
  }
  std::memcpy(copy, address, length);
  bool handed_over = false;
  const BOOL result = start(socket, operation::connect, overlapped, nullptr, [&](io_request& request) noexcept {
    handed_over = true;
    request.single = {copy, sizeof(sockaddr_storage)};
    request.owns_buffer = true;
    request.address_length = length;
  });
  if (!handed_over) {
    const DWORD error = GetLastError();
    tidepool::support::free_block(copy, sizeof(sockaddr_storage));
    SetLastError(error);
  }
  return result;
}

BOOL CancelIoEx(HANDLE handle, LPOVERLAPPED overlapped) noexcept {
  return with_object<file_object>(handle, [&](file_object& object) noexcept -> BOOL {
    return object.target.cancel(overlapped) ? TRUE : fail(ERROR_NOT_FOUND);
  });
}

BOOL GetOverlappedResult(HANDLE handle, LPOVERLAPPED overlapped, LPDWORD transferred, BOOL wait) noexcept {
  if (overlapped == nullptr || transferred == nullptr) {
    return fail(ERROR_INVALID_PARAMETER);
  }
  if (!has_result(*overlapped)) {
    if (!wait) {
      return fail(ERROR_IO_INCOMPLETE);
    }
    const BOOL known = with_object<file_object>(handle, [&](file_object& object) noexcept -> BOOL {
      object.target.hurry(*overlapped);
      await_result(*overlapped);
      return TRUE;
    });
    if (!known) {
      return FALSE;
    }
  }
  if (wait && overlapped->hEvent != nullptr) {
    await_result(*overlapped);  // its event too
  }
  *transferred = static_cast<DWORD>(overlapped->InternalHigh);
  const auto error = static_cast<DWORD>(overlapped->Internal);
  return error == ERROR_SUCCESS ? TRUE : fail(error);
}

BOOL SetFileCompletionNotificationModes(HANDLE handle, UCHAR modes) noexcept {
  return with_object<file_object>(handle, [&](file_object& object) noexcept -> BOOL {
    if ((modes & ~(FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE)) != 0) {
      return fail(ERROR_INVALID_PARAMETER);
    }
    if ((modes & FILE_SKIP_COMPLETION_PORT_ON_SUCCESS) != 0) {
      object.target.skip_on_success();
    }
    return TRUE;
  });
}

BOOL GetFileSizeEx(HANDLE handle, PLARGE_INTEGER size) noexcept {
  return with_object<file_object>(handle, [&](file_object& object) noexcept -> BOOL {
    struct stat status;
    if (size == nullptr || fstat(object.target.descriptor, &status) != 0) {
      return fail(size == nullptr ? ERROR_INVALID_PARAMETER : win32_error_of(errno));
    }
    if (!S_ISREG(status.st_mode)) {
      return fail(ERROR_INVALID_PARAMETER);
    }
    size->QuadPart = status.st_size;
    return TRUE;
  });
}

int TidepoolDescriptorOf(HANDLE handle) noexcept {
  const object_pin pin{handle};
  if (!pin || pin->kind != object_kind::file) {
    return fail(ERROR_INVALID_HANDLE, -1);
  }
  return static_cast<file_object&>(*pin).target.descriptor;
}
