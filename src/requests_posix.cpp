// Requests on Linux: the engine's.
#ifndef _WIN32

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "last_error.hpp"
#include "requests.hpp"
#include "sockets.hpp"
#include "tidepool/detail/access.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::system {

namespace {

using detail::access;
using detail::issued;
using detail::outcome;
using detail::transfer_kind;
using detail::transfer_part;

// The parts are handed over as they are.
static_assert(sizeof(transfer_part) == sizeof(iovec));
static_assert(offsetof(transfer_part, data) == offsetof(iovec, iov_base));
static_assert(offsetof(transfer_part, size) == offsetof(iovec, iov_len));

bool reads(transfer_kind kind) noexcept {
  return kind == transfer_kind::read_at || kind == transfer_kind::read || kind == transfer_kind::receive;
}

issued start_in_parts(detail::transfer_request& what, HANDLE file, OVERLAPPED& overlapped) noexcept {
  constexpr std::size_t most_parts = 1024;  // IOV_MAX
  const std::size_t count = std::min(what.count, most_parts);
  what.asked = 0;
  for (std::size_t i = 0; i != count; ++i) {
    what.asked += what.parts[i].size;
  }
  const auto* const parts = reinterpret_cast<const iovec*>(what.parts);
  return issued_by(reads(what.kind) ? TidepoolReadVector(file, parts, static_cast<DWORD>(count), &overlapped)
                                    : TidepoolWriteVector(file, parts, static_cast<DWORD>(count), &overlapped));
}

}  // namespace

issued start_transfer(detail::transfer_request& what, HANDLE file, OVERLAPPED& overlapped, endpoint_kind) noexcept {
  if (what.count > 1) {
    return start_in_parts(what, file, overlapped);
  }
  constexpr std::size_t most = std::size_t{1} << 31;  // a round number below what a DWORD holds
  const auto length = static_cast<DWORD>(std::min(what.parts->size, most));
  what.asked = length;
  return issued_by(reads(what.kind) ? ReadFile(file, what.parts->data, length, nullptr, &overlapped)
                                    : WriteFile(file, what.parts->data, length, nullptr, &overlapped));
}

issued start_accept(detail::accept_request&, HANDLE listener, OVERLAPPED& overlapped) noexcept {
  return issued_by(TidepoolAccept(listener, &overlapped));
}

std::uint32_t finish_accept(detail::accept_request& what, outcome how) noexcept {
  if (how.error != ERROR_SUCCESS) {
    return how.error;
  }
  const int descriptor = static_cast<int>(how.bytes);
  const HANDLE opened = TidepoolOpenDescriptor(descriptor);
  if (opened == nullptr) {
    const DWORD error = GetLastError();
    ::close(descriptor);
    return error;
  }
  what.result.connection = access::make_endpoint(opened, endpoint_kind::socket);
  return ERROR_SUCCESS;
}

issued start_connect(detail::connect_request& what, HANDLE socket, OVERLAPPED& overlapped) noexcept {
  if (access::size_of(what.to) == 0) {
    return refused(ERROR_INVALID_PARAMETER);
  }
  return issued_by(
      TidepoolConnect(socket, access::storage_of(what.to), static_cast<DWORD>(access::size_of(what.to)), &overlapped));
}

std::uint32_t finish_connect(HANDLE) noexcept { return ERROR_SUCCESS; }

std::uint32_t stop_sending(HANDLE socket) noexcept {
  return ::shutdown(TidepoolDescriptorOf(socket), SHUT_WR) == 0 ? ERROR_SUCCESS : last_socket_error();
}

}  // namespace tidepool::system

#endif
