#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "standard_streams.hpp"

namespace tool {
namespace {

int descriptor_of(output_stream stream) noexcept {
  return stream == output_stream::out ? STDOUT_FILENO : STDERR_FILENO;
}

}  // namespace

void prepare_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // The wrong direction on purpose: using the stream has to fail, as it would have when closed.
    if (fcntl(descriptor, F_GETFD) < 0) {
      [[maybe_unused]] const int taken = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
}

std::error_code write_all(output_stream stream, std::string_view text) {
  const int descriptor = descriptor_of(stream);
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {  // somebody else set the shared description to non-blocking
      pollfd waiting{descriptor, POLLOUT, 0};
      poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      return {errno, std::generic_category()};
    }
  }
  return {};
}

bool is_terminal(output_stream stream) { return isatty(descriptor_of(stream)) == 1; }

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::optional<file_identity> regular_file_behind(output_stream stream) {
  struct stat information;
  if (fstat(descriptor_of(stream), &information) != 0 || !S_ISREG(information.st_mode)) return std::nullopt;
  return file_identity{static_cast<std::uint64_t>(information.st_dev), static_cast<std::uint64_t>(information.st_ino)};
}

bool is_broken_pipe(std::error_code error) { return error == std::errc::broken_pipe; }

void end_by_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::_Exit(128 + SIGPIPE);  // the signal is blocked: end with the status that a shell would have shown
}

}  // namespace tool
