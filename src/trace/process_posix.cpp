#ifndef _WIN32

#include <cxxabi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

#include "trace/process.hpp"

namespace tidepool::recorder {

std::uint32_t process_number() noexcept { return static_cast<std::uint32_t>(::getpid()); }

std::string program_name() {
  char name[4096];
  const ssize_t length = ::readlink("/proc/self/exe", name, sizeof name);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : std::string();
}

std::string thread_name(std::uint32_t thread) {
  std::string name;
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::getline(file, name);
  return name;
}

std::string text_at(std::uint64_t address) {
  // By way of the kernel, which refuses what is not there. Up to the ends of pages, since the next may be missing.
  constexpr std::uint64_t page = 4096;
  constexpr std::size_t longest = 4096;
  std::string text;
  while (text.size() < longest) {
    char part[page];
    const std::uint64_t start = address + text.size();
    iovec to{part, page - start % page};
    iovec from{reinterpret_cast<void*>(start), to.iov_len};
    const ssize_t length = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (length <= 0) {
      return "?";
    }
    const std::string_view read(part, static_cast<std::size_t>(length));
    const std::size_t end = read.find('\0');
    text += read.substr(0, end);
    if (end != std::string_view::npos) {
      break;
    }
  }
  return text;
}

std::string readable_type(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                             &std::free);
  return readable != nullptr ? readable.get() : name;
}

const char* environment_variable(const char* name) noexcept { return ::secure_getenv(name); }

}  // namespace tidepool::recorder

#endif
