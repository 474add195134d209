#include "tidepool/endpoint.hpp"

#include "endpoint_system.hpp"
#include "last_error.hpp"
#include "teardown/fail_fast.hpp"
#include "tidepool/detail/access.hpp"

namespace tidepool {

namespace {

HANDLE held_by(const endpoint& what) noexcept {
  const HANDLE handle = detail::access::handle_of(what);
  require_not_moved_from(handle, "an endpoint was used that holds nothing");
  return handle;
}

DWORD native_access(access how) noexcept {
  switch (how) {
    case access::read: return GENERIC_READ;
    case access::write: return GENERIC_WRITE;
    default: return GENERIC_READ | GENERIC_WRITE;
  }
}

DWORD native_disposition(creation disposition) noexcept {
  switch (disposition) {
    case creation::open_existing: return OPEN_EXISTING;
    case creation::create_new: return CREATE_NEW;
    case creation::open_or_create: return OPEN_ALWAYS;
    default: return CREATE_ALWAYS;
  }
}

void require_socket(const endpoint& what, const char* function) {
  if (what.kind() != endpoint_kind::socket && what.kind() != endpoint_kind::listener) {
    throw std::system_error(win32_error(ERROR_NOT_SUPPORTED), function);
  }
}

}  // namespace

endpoint endpoint::open_file(const std::filesystem::path& path, access how, creation disposition) {
  const HANDLE opened = system::open_file(path, native_access(how), native_disposition(disposition));
  if (opened == INVALID_HANDLE_VALUE) {
    throw_last_error("CreateFile");
  }
  return {opened, system::kind_of_file(opened)};
}

endpoint& endpoint::operator=(endpoint&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    kind_ = std::exchange(other.kind_, endpoint_kind::file);
    unconnected_ = std::exchange(other.unconnected_, false);
  }
  return *this;
}

void endpoint::close() noexcept {
  if (handle_ != nullptr) {
    system::close(std::exchange(handle_, nullptr), kind_);
  }
}

std::uint64_t endpoint::file_size() const {
  const HANDLE file = held_by(*this);
  if (kind_ != endpoint_kind::file) {
    throw std::system_error(win32_error(ERROR_NOT_SUPPORTED), "endpoint::file_size");
  }
  LARGE_INTEGER size{};
  if (!GetFileSizeEx(file, &size)) {
    throw_last_error("GetFileSizeEx");
  }
  return static_cast<std::uint64_t>(size.QuadPart);
}

socket_address endpoint::local_address() const {
  const HANDLE socket = held_by(*this);
  require_socket(*this, "endpoint::local_address");
  return system::local_address(socket);
}

socket_address endpoint::peer_address() const {
  const HANDLE socket = held_by(*this);
  require_socket(*this, "endpoint::peer_address");
  return system::peer_address(socket);
}

native::handle detail::access::handle_of(const endpoint& of) noexcept { return of.handle_; }

endpoint detail::access::make_endpoint(native::handle owned, endpoint_kind kind, bool unconnected) noexcept {
  return {owned, kind, unconnected};
}

bool detail::access::is_unconnected(const endpoint& of) noexcept { return of.unconnected_; }

void detail::access::close(endpoint& what) noexcept { what.close(); }

}  // namespace tidepool
