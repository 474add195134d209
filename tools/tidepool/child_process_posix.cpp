#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "child_process.hpp"

namespace tool {
namespace {

void require(int error, const char* function) {
  if (error != 0) throw std::system_error(error, std::generic_category(), function);
}

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_{number} {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { reset(); }

  int get() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

struct spawn_settings {
  spawn_settings() {
    require(posix_spawn_file_actions_init(&files), "posix_spawn_file_actions_init");
    require(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
  }
  spawn_settings(const spawn_settings&) = delete;
  spawn_settings& operator=(const spawn_settings&) = delete;
  ~spawn_settings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

// By number: the header that old versions of the C library have for these does not work in C++.
int pidfd_of(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

void kill_by_pidfd(int process) noexcept { syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0); }

std::string all_of(int pipe) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t count = read(pipe, part.data(), part.size());
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

struct child_process::system_process {
  pid_t number = -1;
  descriptor process;
  descriptor output;
  bool collected = false;
};

child_process::child_process(const std::vector<std::string>& arguments) : process_{std::make_unique<system_process>()} {
  std::array<int, 2> ends;
  require(pipe2(ends.data(), O_CLOEXEC) != 0 ? errno : 0, "pipe2");
  process_->output.reset(ends[0]);
  const descriptor written{ends[1]};

  spawn_settings settings;
  require(posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
          "posix_spawn_file_actions_addopen");
  require(posix_spawn_file_actions_adddup2(&settings.files, written.get(), STDOUT_FILENO),
          "posix_spawn_file_actions_adddup2");
  // A process group of its own: the terminal sends Ctrl-C to a group.
  require(posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETPGROUP), "posix_spawnattr_setflags");

  std::vector<char*> words;
  std::string name = "tidepool";
  words.push_back(name.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) words.push_back(argument.data());
  words.push_back(nullptr);
  require(
      posix_spawn(&process_->number, "/proc/self/exe", &settings.files, &settings.attributes, words.data(), environ),
      "posix_spawn");
  process_->process.reset(pidfd_of(process_->number));
  if (process_->process.get() < 0) {
    const int error = errno;
    kill(process_->number, SIGKILL);
    waitpid(process_->number, nullptr, 0);
    require(error, "pidfd_open");
  }
}

child_process::~child_process() {
  if (process_->collected || process_->process.get() < 0) return;
  end();
  static_cast<void>(collect());
}

tidepool::waitable_handle child_process::ended() const {
  return tidepool::waitable_handle::from_descriptor(process_->process.get());
}

void child_process::end() noexcept { kill_by_pidfd(process_->process.get()); }

child_process::ending child_process::collect() {
  int status = 0;
  while (waitpid(process_->number, &status, 0) < 0 && errno == EINTR) {
  }
  process_->collected = true;
  const bool exited = WIFEXITED(status);
  const int number = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  return {exited && number == 0, (exited ? "exit status " : "signal ") + std::to_string(number),
          all_of(process_->output.get())};
}

void become_child(const std::string& parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) std::_Exit(EXIT_FAILURE);  // it ended before it could be asked to tell
}

std::string own_identity() { return std::to_string(getpid()); }

}  // namespace tool
