#include "tidepool/waitable_handle.hpp"

#include <utility>

#include "last_error.hpp"
#include "tidepool/detail/access.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "tidepool/win32/tpextensions.h"
#endif

namespace tidepool {

waitable_handle::waitable_handle(const event& from) noexcept
    : handle_(detail::access::handle_of(from)), event_(detail::access::owner_of(from)) {}

waitable_handle::waitable_handle(waitable_handle&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      close_(std::exchange(other.close_, nullptr)),
      event_(std::move(other.event_)) {}

waitable_handle& waitable_handle::operator=(waitable_handle&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    close_ = std::exchange(other.close_, nullptr);
    event_ = std::move(other.event_);
  }
  return *this;
}

waitable_handle::~waitable_handle() { close(); }

void waitable_handle::close() noexcept {
  if (handle_ == nullptr || event_ != nullptr) {
    return;  // an event closes its handle itself
  }
  if (close_ != nullptr) {
    close_(handle_);
  } else {
    CloseHandle(handle_);
  }
}

#ifndef _WIN32

namespace {

/// A descriptor of our own, so that what is looked at is what will be waited for, whatever happens to the number meanwhile.
class duplicate {
 public:
  explicit duplicate(int of) : descriptor_(fcntl(of, F_DUPFD_CLOEXEC, 0)) {
    if (descriptor_ < 0) {
      throw std::system_error(
          errno == EBADF ? win32_error(ERROR_INVALID_HANDLE) : std::error_code(errno, std::generic_category()),
          "waitable_handle::from_descriptor");
    }
  }
  duplicate(const duplicate&) = delete;
  duplicate& operator=(const duplicate&) = delete;
  ~duplicate() { ::close(descriptor_); }

  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// The kinds without a place in the file system are told apart by the names that the kernel gives them.
bool is_known_anonymous_kind(int descriptor) {
  constexpr std::string_view known[] = {"anon_inode:[eventfd]", "anon_inode:[pidfd]", "anon_inode:[timerfd]",
                                        "anon_inode:inotify", "anon_inode:[inotify]"};
  std::array<char, 64> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), name.data(), name.size());
  return length > 0 && std::find(std::begin(known), std::end(known),
                                 std::string_view(name.data(), static_cast<std::size_t>(length))) != std::end(known);
}

bool is_known_kind(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) {
    return false;
  }
  return S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode) || is_known_anonymous_kind(descriptor);
}

}  // namespace

waitable_handle waitable_handle::from_descriptor(int descriptor) {
  const duplicate ours(descriptor);
  if (!is_known_kind(ours.get())) {
    throw std::system_error(win32_error(ERROR_NOT_SUPPORTED),
                            "waitable_handle::from_descriptor takes an eventfd, a pidfd, a timerfd, an inotify "
                            "descriptor, a socket or a pipe");
  }
  const HANDLE created = TidepoolCreateDescriptorObject(ours.get());
  if (created == nullptr) {
    throw_last_error("TidepoolCreateDescriptorObject");
  }
  return {created, nullptr};
}

#else

waitable_handle waitable_handle::from_descriptor(int) {
  throw std::system_error(win32_error(ERROR_NOT_SUPPORTED), "waitable_handle::from_descriptor");
}

#endif

native::handle detail::access::handle_of(const waitable_handle& of) noexcept { return of.handle_; }

waitable_handle detail::access::waitable(native::handle owned, native::close_routine close) noexcept {
  return {owned, close};
}

native::handle detail::access::release_handle(waitable_handle& of) noexcept {
  return of.close_ == nullptr && of.event_ == nullptr ? std::exchange(of.handle_, nullptr) : nullptr;
}

}  // namespace tidepool
