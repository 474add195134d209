#include "engine/system_error.hpp"

#include <cerrno>

#include "tidepool/win32/winerror.h"

namespace tidepool::engine {

DWORD win32_error_of(int error) noexcept {
  switch (error) {
    case 0: return ERROR_SUCCESS;
    case ENOENT: return ERROR_FILE_NOT_FOUND;
    case ENOTDIR: return ERROR_PATH_NOT_FOUND;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case EACCES:
    case EPERM:
    case EISDIR:
    case ETXTBSY:
    case EBADF: return ERROR_ACCESS_DENIED;  // the last one: there is a descriptor, but it is not open for this
    case ENOMEM: return ERROR_NOT_ENOUGH_MEMORY;
    case ENOBUFS:
    case EAGAIN: return ERROR_NO_SYSTEM_RESOURCES;
    case EROFS: return ERROR_WRITE_PROTECT;
    case EOPNOTSUPP:
    case ENOSYS:
    case EAFNOSUPPORT: return ERROR_NOT_SUPPORTED;
    case ECONNRESET: return ERROR_NETNAME_DELETED;
    case EEXIST: return ERROR_FILE_EXISTS;
    case EINVAL:
    case ESPIPE:
    case EDESTADDRREQ: return ERROR_INVALID_PARAMETER;
    case EPIPE: return ERROR_NO_DATA;
    case ENOSPC:
    case EDQUOT: return ERROR_DISK_FULL;
    case ETIMEDOUT: return ERROR_SEM_TIMEOUT;
    case ELOOP: return ERROR_INVALID_NAME;
    case EBUSY: return ERROR_BUSY;
    case ENAMETOOLONG: return ERROR_FILENAME_EXCED_RANGE;
    case EFBIG: return ERROR_FILE_TOO_LARGE;
    case ECANCELED: return ERROR_OPERATION_ABORTED;
    case EFAULT: return ERROR_NOACCESS;
    case ECONNREFUSED: return ERROR_CONNECTION_REFUSED;
    case ENETUNREACH:
    case ENETDOWN: return ERROR_NETWORK_UNREACHABLE;
    case EHOSTUNREACH: return ERROR_HOST_UNREACHABLE;
    case ECONNABORTED: return ERROR_CONNECTION_ABORTED;
    case EADDRINUSE: return WSAEADDRINUSE;
    case EADDRNOTAVAIL: return WSAEADDRNOTAVAIL;
    case EISCONN:
    case EALREADY: return WSAEISCONN;
    case ENOTCONN: return WSAENOTCONN;
    default: return ERROR_IO_DEVICE;
  }
}

}  // namespace tidepool::engine
