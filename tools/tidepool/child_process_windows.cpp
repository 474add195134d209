#include <windows.h>

#include <array>
#include <cstdio>
#include <system_error>

#include "child_process.hpp"
#include "tidepool/unsafe.hpp"
#include "windows_text.hpp"

namespace tool {
namespace {

constexpr DWORD room_for_output = 64 * 1024;

void require(BOOL succeeded, const char* function) {
  if (!succeeded) throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), function);
}

class owned_handle {
 public:
  owned_handle() = default;
  owned_handle(const owned_handle&) = delete;
  owned_handle& operator=(const owned_handle&) = delete;
  ~owned_handle() { reset(); }

  HANDLE get() const { return handle_; }
  HANDLE* address() { return &handle_; }
  void reset(HANDLE handle = nullptr) {
    if (handle_ != nullptr) CloseHandle(handle_);
    handle_ = handle;
  }

 private:
  HANDLE handle_ = nullptr;
};

/// Its processes end when its last handle is closed, which the system does when this process ends.
HANDLE job_of_children() {
  static const HANDLE job = [] {
    const HANDLE made = CreateJobObjectW(nullptr, nullptr);
    require(made != nullptr, "CreateJobObject");
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    require(SetInformationJobObject(made, JobObjectExtendedLimitInformation, &limits, sizeof limits),
            "SetInformationJobObject");
    return made;
  }();
  return job;
}

std::wstring own_path() {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    require(length != 0, "GetModuleFileName");
    if (length < path.size()) {
      path.resize(length);
      return path;
    }
    path.resize(path.size() * 2);
  }
}

std::string all_of(HANDLE pipe) {
  std::string text;
  std::array<char, 4096> part;
  DWORD count = 0;
  while (ReadFile(pipe, part.data(), static_cast<DWORD>(part.size()), &count, nullptr) && count != 0) {
    text.append(part.data(), count);
  }
  return text;
}

}  // namespace

struct child_process::system_process {
  owned_handle process;
  owned_handle output;
};

child_process::child_process(const std::vector<std::string>& arguments) : process_{std::make_unique<system_process>()} {
  // Only the main thread starts processes, so that no other one inherits what is inheritable here.
  SECURITY_ATTRIBUTES inheritable{sizeof inheritable, nullptr, TRUE};
  owned_handle written;
  require(CreatePipe(process_->output.address(), written.address(), &inheritable, room_for_output), "CreatePipe");
  require(SetHandleInformation(process_->output.get(), HANDLE_FLAG_INHERIT, 0), "SetHandleInformation");
  owned_handle nothing;
  const HANDLE null_device =
      CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inheritable, OPEN_EXISTING, 0, nullptr);
  require(null_device != INVALID_HANDLE_VALUE, "CreateFile");
  nothing.reset(null_device);

  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = nothing.get();
  start.hStdOutput = written.get();
  start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  const std::wstring path = own_path();
  std::wstring line = L"tidepool";
  for (const std::string& argument : arguments) line += L" " + to_utf16(argument);  // none needs quotes
  PROCESS_INFORMATION made{};
  // A process group of its own gets no Ctrl-C. Suspended until it belongs to the job, so that it cannot escape it.
  require(CreateProcessW(path.c_str(), line.data(), nullptr, nullptr, TRUE, CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED,
                         nullptr, nullptr, &start, &made),
          "CreateProcess");
  process_->process.reset(made.hProcess);
  owned_handle thread;
  thread.reset(made.hThread);
  if (!AssignProcessToJobObject(job_of_children(), made.hProcess) || ResumeThread(made.hThread) == DWORD(-1)) {
    const DWORD error = GetLastError();
    end();
    SetLastError(error);
    require(FALSE, "AssignProcessToJobObject");
  }
}

child_process::~child_process() {
  end();  // does nothing to one that has ended
}

tidepool::waitable_handle child_process::ended() const {
  HANDLE copy = nullptr;
  require(
      DuplicateHandle(GetCurrentProcess(), process_->process.get(), GetCurrentProcess(), &copy, SYNCHRONIZE, FALSE, 0),
      "DuplicateHandle");
  return tidepool::unsafe::assume_waitable(copy);
}

void child_process::end() noexcept { TerminateProcess(process_->process.get(), 1); }

child_process::ending child_process::collect() {
  WaitForSingleObject(process_->process.get(), INFINITE);
  DWORD status = 0;
  require(GetExitCodeProcess(process_->process.get(), &status), "GetExitCodeProcess");
  std::array<char, 32> description;
  std::snprintf(description.data(), description.size(), status < 256 ? "exit status %lu" : "exit status 0x%lx", status);
  return {status == 0, description.data(), all_of(process_->output.get())};
}

void become_child(const std::string&) {}  // the job sees to it

std::string own_identity() { return "0"; }

}  // namespace tool
