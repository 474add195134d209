#ifdef _WIN32

#include "snapshot_queries_windows.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <string_view>

namespace tidepool::system {

namespace {

static_assert(offsetof(worker_factory_information, may_create) == 0x1b);
static_assert(offsetof(worker_factory_information, thread_minimum) == 0x24);
static_assert(offsetof(worker_factory_information, start_routine) == 0x48);
static_assert(sizeof(worker_factory_information) == (sizeof(void*) == 8 ? 0x78 : 0x60));

constexpr ULONG process_handle_information = 51;
constexpr ULONG object_type_information = 2;
constexpr ULONG worker_factory_basic_information = 7;
constexpr ULONG io_completion_basic_information = 0;

constexpr LONG success = 0;
constexpr LONG info_length_mismatch = static_cast<LONG>(0xC0000004);
constexpr LONG not_implemented = static_cast<LONG>(0xC0000002);

/// The lists come as a number, a reserved word, and so many of these.
struct list_header {
  ULONG_PTR count;
  ULONG_PTR reserved;
};

struct process_handle_entry {
  HANDLE value;
  ULONG_PTR handle_count;
  ULONG_PTR pointer_count;
  ULONG granted_access;
  ULONG type;
  ULONG attributes;
  ULONG reserved;
};

struct counted_text {
  USHORT bytes;
  USHORT capacity;
  const wchar_t* text;
};

/// How `Function` would be called, or null.
template <class Function>
Function look_up(const char* name) noexcept {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const FARPROC found = ntdll != nullptr ? GetProcAddress(ntdll, name) : nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(found));
}

std::string refusal(const char* function, LONG status) {
  char text[96];
  std::snprintf(text, sizeof text, "%s fails with status 0x%08lX", function, static_cast<unsigned long>(status));
  return text;
}

std::string missing(const char* function) { return std::string("this system has no ") + function; }

/// Calls `query(buffer, size, &needed)` with a buffer that grows until it is large enough.
template <class Query>
LONG query_list(std::vector<std::byte>& buffer, Query query) {
  constexpr std::size_t most = std::size_t{1} << 28;
  buffer.resize(std::size_t{1} << 16);
  for (;;) {
    ULONG needed = 0;
    const LONG status = query(buffer.data(), static_cast<ULONG>(buffer.size()), &needed);
    if (status != info_length_mismatch || buffer.size() >= most) {
      return status;
    }
    buffer.resize(buffer.size() * 2);
  }
}

template <class Entry, class Visit>
void for_each_entry(const std::vector<std::byte>& buffer, Visit visit) {
  list_header header;
  std::memcpy(&header, buffer.data(), sizeof header);
  const std::size_t room = (buffer.size() - sizeof header) / sizeof(Entry);
  for (std::size_t i = 0; i != header.count && i != room; ++i) {
    Entry entry;
    std::memcpy(&entry, buffer.data() + sizeof header + i * sizeof entry, sizeof entry);
    visit(entry);
  }
}

}  // namespace

native_queries::native_queries() noexcept
    : process_(look_up<query_process>("NtQueryInformationProcess")),
      object_(look_up<query_handle>("NtQueryObject")),
      factory_(look_up<query_handle>("NtQueryInformationWorkerFactory")),
      port_(look_up<query_handle>("NtQueryIoCompletion")) {}

// ---- handles -------------------------------------------------------------------------------------------

LONG native_queries::list_of_process(std::vector<listed_handle>& into) const {
  if (process_ == nullptr) {
    return not_implemented;
  }
  std::vector<std::byte> buffer;
  const LONG status = query_list(buffer, [this](void* data, ULONG size, ULONG* needed) {
    return process_(GetCurrentProcess(), process_handle_information, data, size, needed);
  });
  if (status == success) {
    for_each_entry<process_handle_entry>(buffer, [&](const auto& each) { into.push_back({each.value, each.type}); });
  }
  return status;
}

bool native_queries::kind_of(HANDLE value, handle_kind& into) const {
  alignas(counted_text) std::byte buffer[1024];
  if (object_(value, object_type_information, buffer, sizeof buffer, nullptr) != success) {
    return false;
  }
  counted_text name;
  std::memcpy(&name, buffer, sizeof name);
  const std::wstring_view text(name.text, name.bytes / sizeof(wchar_t));
  into = text == L"TpWorkerFactory" ? handle_kind::worker_factory
         : text == L"IoCompletion"  ? handle_kind::completion_port
                                    : handle_kind::other;
  return true;
}

std::vector<typed_handle> native_queries::found_by_trying() const {
  constexpr std::uintptr_t step = 4;
  constexpr unsigned gap = 256;  // so many unused values in a row are taken for the end
  std::vector<typed_handle> found;
  unsigned unused = 0;
  for (std::uintptr_t value = step; unused != gap; value += step) {
    handle_kind kind{};
    const auto handle = reinterpret_cast<HANDLE>(value);
    if (!kind_of(handle, kind)) {
      ++unused;
      continue;
    }
    unused = 0;
    if (kind != handle_kind::other) {
      found.push_back({handle, kind});
    }
  }
  return found;
}

observation<std::vector<typed_handle>> native_queries::handles() const {
  using result = observation<std::vector<typed_handle>>;
  if (object_ == nullptr) {
    return result::unavailable(missing("NtQueryObject"));
  }
  std::vector<listed_handle> listed;
  if (list_of_process(listed) != success) {
    return found_by_trying();
  }
  std::map<ULONG, handle_kind> kinds;  // asked once for each type
  std::vector<typed_handle> found;
  for (const listed_handle& each : listed) {
    auto known = kinds.find(each.type);
    if (known == kinds.end()) {
      handle_kind kind{};
      if (!kind_of(each.value, kind)) {
        continue;  // it has been closed; the next of the type will tell
      }
      known = kinds.emplace(each.type, kind).first;
    }
    if (known->second != handle_kind::other) {
      found.push_back({each.value, known->second});
    }
  }
  return found;
}

// ---- what they are of ----------------------------------------------------------------------------------

std::string native_queries::why_no_factories() const {
  return factory_ != nullptr ? std::string() : missing("NtQueryInformationWorkerFactory");
}

observation<worker_factory_information> native_queries::factory(HANDLE of) const {
  using result = observation<worker_factory_information>;
  if (factory_ == nullptr) {
    return result::unavailable(why_no_factories());
  }
  worker_factory_information information{};
  ULONG written = 0;
  const LONG status = factory_(of, worker_factory_basic_information, &information, sizeof information, &written);
  if (status != success) {
    return result::unavailable(refusal("NtQueryInformationWorkerFactory", status));
  }
  if (written != 0 && written != sizeof information) {
    return result::unavailable("NtQueryInformationWorkerFactory writes something else than is known here");
  }
  return information;
}

observation<std::uint64_t> native_queries::depth(HANDLE port) const {
  using result = observation<std::uint64_t>;
  if (port_ == nullptr) {
    return result::unavailable(missing("NtQueryIoCompletion"));
  }
  LONG packets = -1;
  ULONG written = 0;
  const LONG status = port_(port, io_completion_basic_information, &packets, sizeof packets, &written);
  if (status != success) {
    return result::unavailable(refusal("NtQueryIoCompletion", status));
  }
  if (packets < 0) {
    return result::unavailable("NtQueryIoCompletion gives a negative depth");
  }
  return static_cast<std::uint64_t>(packets);
}

}  // namespace tidepool::system

#endif
