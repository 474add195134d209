// The machine as Windows tells of it.
#include <windows.h>

#include <fmt/format.h>

#include <bit>

#include "machine.hpp"

namespace tool {
namespace {

using tidepool::observation;

/// How a function of ntdll would be called, or null.
template <class Function>
Function look_up(const char* name) {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const FARPROC found = ntdll != nullptr ? GetProcAddress(ntdll, name) : nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(found));
}

std::string system_name() {
  using wine_version = const char*(__cdecl*)();
  const auto version = look_up<wine_version>("wine_get_version");
  return version != nullptr ? std::string{"Wine "} + version() : "Windows";
}

/// GetVersionEx tells what the program's manifest wants to hear.
std::string kernel_version() {
  using get_version = LONG(NTAPI*)(OSVERSIONINFOW*);
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof version;
  const auto get = look_up<get_version>("RtlGetVersion");
  if (get == nullptr || get(&version) != 0) return "NT";
  return fmt::format("NT {}.{}.{}", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber);
}

std::string architecture_name() {
  SYSTEM_INFO info{};
  GetNativeSystemInfo(&info);
  switch (info.wProcessorArchitecture) {
    case PROCESSOR_ARCHITECTURE_AMD64: return "x86_64";
    case PROCESSOR_ARCHITECTURE_ARM64: return "aarch64";
    case PROCESSOR_ARCHITECTURE_INTEL: return "x86";
    default: return fmt::format("architecture {}", info.wProcessorArchitecture);
  }
}

/// In a process that uses several processor groups the system gives no mask.
observation<std::uint32_t> allowed_processors() {
  DWORD_PTR its = 0;
  DWORD_PTR all = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &its, &all) || its == 0) {
    return observation<std::uint32_t>::unavailable("GetProcessAffinityMask gives no mask");
  }
  return static_cast<std::uint32_t>(std::popcount(its));
}

}  // namespace

machine look_at_machine() {
  machine result;
  result.system = system_name();
  result.kernel = kernel_version();
  result.architecture = architecture_name();
  result.online_processors = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  result.allowed_processors = allowed_processors();
  result.processors_of_group = observation<std::optional<double>>::unavailable("job objects are not looked at");
  const auto none = observation<limit>::unavailable("Windows has no such limit");
  result.open_files = none;
  result.most_open_files = none;
  result.threads_of_user = none;
  result.threads_of_group = observation<limit>::unavailable("job objects are not looked at");
  result.threads_of_system = none;
  result.locked_memory = none;
  result.requests.taken = "Windows";
  result.requests.io_uring_error = observation<int>::unavailable("only Linux has it");
  result.requests.io_uring_says = observation<std::string>::unavailable("only Linux has it");
  result.requests.io_uring_disabled = observation<int>::unavailable("only Linux has it");
  result.clock_source = std::string{"QueryPerformanceCounter"};
  return result;
}

}  // namespace tool
