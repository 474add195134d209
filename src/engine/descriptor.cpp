#include "engine/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "engine/handle_table.hpp"
#include "engine/poller.hpp"
#include "tidepool/win32/tpextensions.h"

namespace tidepool::engine {

namespace {

constexpr std::uint32_t wanted_events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;

}  // namespace

descriptor_object* descriptor_object::make(int descriptor) noexcept {
  const auto refuse = [](DWORD error) -> descriptor_object* {
    SetLastError(error);
    return nullptr;
  };
  if (!poller::instance().open()) {
    return refuse(ERROR_NO_SYSTEM_RESOURCES);
  }
  const int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) {
    return refuse(errno == EBADF ? ERROR_INVALID_HANDLE : ERROR_TOO_MANY_OPEN_FILES);
  }
  const std::uint64_t key = reserve_key();
  auto* const object = key != 0 ? new (std::nothrow) descriptor_object(duplicate, key) : nullptr;
  if (object == nullptr) {
    if (key != 0) {
      release_key(key);
    }
    close(duplicate);
    return refuse(ERROR_NOT_ENOUGH_MEMORY);
  }
  assign_key(key, *object);
  epoll_event nothing{EPOLLONESHOT, {.u64 = key}};
  if (epoll_ctl(poller::instance().epoll(), EPOLL_CTL_ADD, duplicate, &nothing) != 0) {
    const int error = errno;
    object->release_reference();
    return refuse(error == EPERM ? ERROR_NOT_SUPPORTED : ERROR_NO_SYSTEM_RESOURCES);
  }
  return object;
}

descriptor_object::~descriptor_object() {
  release_key(key_);
  // Not left to close(): the description may live on in the user's descriptor, and its registration with it.
  epoll_ctl(poller::instance().epoll(), EPOLL_CTL_DEL, descriptor_, nullptr);
  close(descriptor_);
}

bool descriptor_object::probe(const thread_record*) const noexcept {
  pollfd asked{descriptor_, POLLIN | POLLRDHUP, 0};
  return poll(&asked, 1, 0) > 0;
}

/// Asking costs less than arming and the event that would follow at once. Descriptors that are busy are ready more often
/// than not when they are waited for again; with the others it is tried now and then.
bool descriptor_object::glance(const thread_record* thread) noexcept {
  constexpr std::uint8_t skipped_at_most = 16;
  if (glances_skipped_ != 0 && glances_skipped_ != skipped_at_most) {
    ++glances_skipped_;
    return false;
  }
  const bool ready = probe(thread);
  glances_skipped_ = ready ? 0 : 1;
  return ready;
}

/// With the lock held.
void descriptor_object::arm() noexcept {
  if (!armed_) {
    armed_ = true;
    epoll_event wanted{wanted_events, {.u64 = key_}};
    epoll_ctl(poller::instance().epoll(), EPOLL_CTL_MOD, descriptor_, &wanted);
  }
}

void descriptor_object::waiters_came() noexcept {
  poller::instance().begin_interest();
  arm();
}

void descriptor_object::waiters_gone() noexcept { poller::instance().end_interest(); }

void descriptor_object::note_events(std::uint32_t) noexcept {
  {
    state_change change{*this};
    armed_ = false;
    ready_ = true;
    change.satisfy_waiters();
    ready_ = false;
    if (has_waiters()) {
      arm();
    }
  }
  release_reference();
}

}  // namespace tidepool::engine

HANDLE TidepoolCreateDescriptorObject(int descriptor) noexcept {
  tidepool::engine::descriptor_object* const object = tidepool::engine::descriptor_object::make(descriptor);
  return object != nullptr ? tidepool::engine::open_new_object(object) : nullptr;
}
