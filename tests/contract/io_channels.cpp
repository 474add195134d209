#ifdef _WIN32
#include <winsock2.h>  // before windows.h
#else
#include "tidepool/win32/tpextensions.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "contract/io_channels.hpp"
#include "contract/objects.hpp"

#ifdef _WIN32
#include <winioctl.h>
#endif

namespace contract {

namespace {

/// A number that no other test of this machine uses at this time.
std::string unique_name() {
  static std::atomic<unsigned> count{0};
#ifdef _WIN32
  const unsigned long process = GetCurrentProcessId();
#else
  const int process = getpid();
#endif
  return "tidepool-" + std::to_string(process) + "-" + std::to_string(count.fetch_add(1));
}

BOOL close_handle(HANDLE handle) { return CloseHandle(handle); }

#ifdef _WIN32

std::pair<endpoint, endpoint> pipe_ends() {
  constexpr DWORD capacity = 65'536;
  const std::string name = R"(\\.\pipe\)" + unique_name();
  endpoint reader{CreateNamedPipeA(name.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED,
                                   PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT, 1, capacity, capacity, 0, nullptr),
                  &close_handle};
  endpoint writer{CreateFileA(name.c_str(), GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, nullptr),
                  &close_handle};
  return {std::move(reader), std::move(writer)};
}

SOCKET new_socket() { return WSASocketW(AF_INET, SOCK_STREAM, IPPROTO_TCP, nullptr, 0, WSA_FLAG_OVERLAPPED); }

endpoint socket_end(SOCKET socket) {
  return endpoint{reinterpret_cast<HANDLE>(socket),
                  [](HANDLE value) { return BOOL{closesocket(reinterpret_cast<SOCKET>(value)) == 0}; }};
}

std::pair<endpoint, endpoint> socket_ends() {
  [[maybe_unused]] static const int started = [] {
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data);
  }();
  const SOCKET listener = new_socket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int length = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(listener, general, length), 0) << WSAGetLastError();
  EXPECT_EQ(listen(listener, 1), 0) << WSAGetLastError();
  EXPECT_EQ(getsockname(listener, general, &length), 0) << WSAGetLastError();
  const SOCKET one = new_socket();
  EXPECT_EQ(connect(one, general, length), 0) << WSAGetLastError();
  const SOCKET other = accept(listener, nullptr, nullptr);
  closesocket(listener);
  return {socket_end(one), socket_end(other)};
}

#else

endpoint descriptor_end(int descriptor) { return endpoint{TidepoolOpenDescriptor(descriptor), &close_handle}; }

std::pair<endpoint, endpoint> pipe_ends() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {descriptor_end(ends[0]), descriptor_end(ends[1])};
}

std::pair<endpoint, endpoint> socket_ends() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {descriptor_end(ends[0]), descriptor_end(ends[1])};
}

#endif

}  // namespace

// ---- files -----------------------------------------------------------------------------------------

temporary_folder::temporary_folder() : path_{(std::filesystem::temp_directory_path() / unique_name()).string()} {
  std::filesystem::remove_all(path_);  // of an earlier process of this number that died
  std::filesystem::create_directory(path_);
}

temporary_folder::~temporary_folder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  EXPECT_FALSE(error) << error.message();
}

std::string temporary_folder::path(std::string_view name) const {
  return (std::filesystem::path{path_} / name).string();
}

std::string temporary_folder::file(std::string_view name, std::string_view content) const {
  std::ofstream{path(name), std::ios::binary} << content;
  return path(name);
}

std::string temporary_folder::content(std::string_view name) const {
  std::ifstream file{path(name), std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool temporary_folder::has(std::string_view name) const { return std::filesystem::exists(path(name)); }

io_file::io_file(std::string_view content, DWORD access, DWORD flags)
    : file_{CreateFileA(folder_.file(name, content).c_str(), access,
                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING, flags, nullptr),
            &close_handle} {}

void io_file::provide(std::string_view text) { std::ofstream{path(), std::ios::binary | std::ios::app} << text; }

void io_file::make_sparse() const {
#ifdef _WIN32
  DWORD unused = 0;
  DeviceIoControl(file_, FSCTL_SET_SPARSE, nullptr, 0, nullptr, 0, &unused, nullptr);
#endif
}

// ---- pipes and sockets -----------------------------------------------------------------------------

void io_stream::provide(std::string_view text) const { write_unbound(writer_, text); }

std::string io_stream::taken(std::size_t length) const {
  std::string all;
  while (all.size() < length) {
    const handle complete = manual_event();
    std::string part(length - all.size(), '\0');
    OVERLAPPED overlapped{};
    overlapped.hEvent = complete;
    DWORD bytes = 0;
    const BOOL at_once = ReadFile(reader_, part.data(), static_cast<DWORD>(part.size()), nullptr, &overlapped);
    if ((!at_once && GetLastError() != ERROR_IO_PENDING) || !GetOverlappedResult(reader_, &overlapped, &bytes, TRUE) ||
        bytes == 0) {
      ADD_FAILURE() << all.size() << " of " << length << " bytes, error " << GetLastError();
      break;
    }
    all.append(part, 0, bytes);
  }
  return all;
}

io_pipe::io_pipe() : io_stream{pipe_ends()} {}

io_socket::io_socket() : io_stream{socket_ends()} {}

void io_socket::reset() {
  // Closing a socket with something in it that was not read is a reset, for its peer, on every system. It goes there
  // by the system's own call, for an object may be bound to the reader.
  constexpr std::string_view unread = "not read";
#ifdef _WIN32
  EXPECT_EQ(send(reinterpret_cast<SOCKET>(reader()), unread.data(), static_cast<int>(unread.size()), 0),
            static_cast<int>(unread.size()));
  EXPECT_TRUE(eventually([this] {
    u_long waiting = 0;
    return ioctlsocket(reinterpret_cast<SOCKET>(writer()), FIONREAD, &waiting) != 0 || waiting != 0;
  }));
#else
  EXPECT_EQ(send(TidepoolDescriptorOf(reader()), unread.data(), unread.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(unread.size()));
#endif
  close_writer();
}

void write_unbound(HANDLE writer, std::string_view text) {
  const handle complete = manual_event();
  OVERLAPPED overlapped{};
  overlapped.hEvent = complete;
  DWORD bytes = 0;
  const BOOL at_once = WriteFile(writer, text.data(), static_cast<DWORD>(text.size()), nullptr, &overlapped);
  EXPECT_TRUE(at_once || GetLastError() == ERROR_IO_PENDING) << GetLastError();
  EXPECT_TRUE(GetOverlappedResult(writer, &overlapped, &bytes, TRUE)) << GetLastError();
  EXPECT_EQ(bytes, text.size());
}

}  // namespace contract
