#include "requests.hpp"

#include <cstring>
#include <new>

#include "io_context.hpp"
#include "last_error.hpp"

namespace tidepool::detail {

namespace {

bool reads(transfer_kind kind) noexcept {
  return kind == transfer_kind::read_at || kind == transfer_kind::read || kind == transfer_kind::receive;
}

bool at_offset(transfer_kind kind) noexcept {
  return kind == transfer_kind::read_at || kind == transfer_kind::write_at;
}

endpoint_kind needed_for(transfer_kind kind) noexcept {
  switch (kind) {
    case transfer_kind::read_at:
    case transfer_kind::write_at: return endpoint_kind::file;
    case transfer_kind::read:
    case transfer_kind::write: return endpoint_kind::pipe;
    default: return endpoint_kind::socket;
  }
}

/// The first `bytes` have been transferred.
void skip(transfer_request& what, std::size_t bytes) noexcept {
  what.left -= bytes;
  if (at_offset(what.kind)) {
    what.offset += bytes;
  }
  while (bytes != 0 && bytes >= what.parts->size) {
    bytes -= what.parts->size;
    ++what.parts;
    --what.count;
  }
  if (bytes != 0) {
    what.parts->data = static_cast<std::byte*>(what.parts->data) + bytes;
    what.parts->size -= bytes;
  }
}

}  // namespace

void throw_more_than_the_buffer() {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                          "a transfer of more bytes than its buffer has");
}

// ---- transfers -----------------------------------------------------------------------------------------

issued transfer_request::issue(operation_base& self, io_context& on, native::overlapped overlapped) noexcept {
  auto& what = static_cast<transfer_request&>(self);
  if (on.file.kind() != needed_for(what.kind)) {
    return system::refused(ERROR_NOT_SUPPORTED);
  }
  if (on.unconnected.load(std::memory_order_relaxed)) {
    return system::refused(WSAENOTCONN);
  }
  if (what.kind == transfer_kind::send && on.silent.load(std::memory_order_relaxed)) {
    return system::refused(WSAESHUTDOWN);
  }
  if (what.left == 0) {
    return {false, {}};  // what systems make of this differs
  }
  if (at_offset(what.kind)) {
    overlapped->Offset = static_cast<DWORD>(what.offset);
    overlapped->OffsetHigh = static_cast<DWORD>(what.offset >> 32);
  }
  return system::start_transfer(what, access::handle_of(on), *overlapped, on.file.kind());
}

bool transfer_request::advance(operation_base& self, outcome& how) noexcept {
  auto& what = static_cast<transfer_request&>(self);
  const std::size_t bytes = how.bytes;
  const std::size_t sum = what.done + bytes;
  how.bytes = sum;
  if (how.error != ERROR_SUCCESS) {
    if (how.error == ERROR_HANDLE_EOF && sum != 0) {
      how.error = ERROR_SUCCESS;  // the file has ended between two parts: a short read
    }
    return false;
  }
  // A write goes on until everything is written, a read only where the system had no more than a part to fill.
  const bool goes_on = bytes != 0 && bytes < what.left &&
                       (!reads(what.kind) || (what.kind == transfer_kind::read_at && bytes == what.asked));
  if (goes_on) {
    what.done = sum;
    skip(what, bytes);
  }
  return goes_on;
}

void gather(transfer_request& request, transfer_parts& parts) {
  parts.together = std::make_unique_for_overwrite<std::byte[]>(request.left);
  if (!reads(request.kind)) {
    std::byte* to = parts.together.get();
    for (std::size_t i = 0; i != parts.count; ++i) {
      std::memcpy(to, parts.all[i].data, parts.all[i].size);
      to += parts.all[i].size;
    }
  }
  request.whole = {parts.together.get(), request.left};
  request.parts = &request.whole;
  request.count = 1;
}

void scatter(const transfer_parts& parts, std::size_t bytes) noexcept {
  const std::byte* from = parts.together.get();
  for (std::size_t i = 0; i != parts.count && bytes != 0; ++i) {
    const std::size_t size = parts.all[i].size < bytes ? parts.all[i].size : bytes;
    std::memcpy(parts.all[i].data, from, size);
    from += size;
    bytes -= size;
  }
}

// ---- connections ---------------------------------------------------------------------------------------

issued accept_request::issue(operation_base& self, io_context& on, native::overlapped overlapped) noexcept {
  auto& what = static_cast<accept_request&>(self);
  if (on.file.kind() != endpoint_kind::listener) {
    return system::refused(ERROR_NOT_SUPPORTED);
  }
  what.listener = access::handle_of(on);
  return system::start_accept(what, what.listener, *overlapped);
}

void accept_request::conclude(outcome how) noexcept {
  const std::uint32_t error = system::finish_accept(*this, how);
  result.error = win32_error(error);
  if (error != ERROR_SUCCESS) {
    result.connection = endpoint();
  }
}

issued connect_request::issue(operation_base& self, io_context& on, native::overlapped overlapped) noexcept {
  auto& what = static_cast<connect_request&>(self);
  if (on.file.kind() != endpoint_kind::socket) {
    return system::refused(ERROR_NOT_SUPPORTED);
  }
  if (!on.unconnected.load(std::memory_order_relaxed)) {
    return system::refused(WSAEISCONN);
  }
  what.socket = &on;
  return system::start_connect(what, access::handle_of(on), *overlapped);
}

void connect_request::conclude(outcome how) noexcept {
  std::uint32_t error = how.error;
  if (error == ERROR_SUCCESS) {
    error = system::finish_connect(access::handle_of(*socket));
    socket->unconnected.store(false, std::memory_order_relaxed);
  }
  result.error = win32_error(error);
}

}  // namespace tidepool::detail
