// What requests are made on: files, pipes and sockets, opened for overlapped use.
#pragma once

#include <cstddef>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>

#include "contract/win32.hpp"

namespace contract {

/// Owns the handle of a file, or of one end of a pipe or socket.
class endpoint {
 public:
  using closer = BOOL (*)(HANDLE);

  endpoint(HANDLE value, closer how) : value_{value}, close_{how} {
    EXPECT_TRUE(value_ != nullptr && value_ != INVALID_HANDLE_VALUE) << "error " << GetLastError();
  }
  endpoint(endpoint&& other) noexcept : value_{std::exchange(other.value_, nullptr)}, close_{other.close_} {}
  endpoint& operator=(endpoint&&) = delete;
  ~endpoint() { close(); }

  operator HANDLE() const { return value_; }

  void close() {
    if (value_ != nullptr && value_ != INVALID_HANDLE_VALUE) {
      EXPECT_TRUE(close_(std::exchange(value_, nullptr)));
    }
  }

 private:
  HANDLE value_;
  closer close_;
};

/// A folder that goes with all that is in it.
class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path(std::string_view name) const;
  /// Makes a file of that name and returns its path.
  [[nodiscard]] std::string file(std::string_view name, std::string_view content) const;
  /// What is in the file of that name, read from it by the C++ library.
  [[nodiscard]] std::string content(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;

 private:
  std::string path_;
};

/// A file with a content. What is read and what is written is the same.
class io_file {
 public:
  static constexpr bool is_stream = false;

  explicit io_file(std::string_view content = {}, DWORD access = GENERIC_READ | GENERIC_WRITE,
                   DWORD flags = FILE_FLAG_OVERLAPPED);

  [[nodiscard]] HANDLE reader() const { return file_; }
  [[nodiscard]] HANDLE writer() const { return file_; }
  [[nodiscard]] std::string path() const { return folder_.path(name); }
  [[nodiscard]] std::string content() const { return folder_.content(name); }
  void close() { file_.close(); }

  /// Appends it, so that it can be read.
  void provide(std::string_view text);
  /// What was written, `length` bytes of it.
  [[nodiscard]] std::string taken(std::size_t length) const { return content().substr(0, length); }
  /// Makes room for what is not written between its parts, where a file has to be asked for that.
  void make_sparse() const;

 private:
  static constexpr std::string_view name = "file";
  temporary_folder folder_;
  endpoint file_;
};

/// Two ends: what is written at one is read at the other.
class io_stream {
 public:
  static constexpr bool is_stream = true;

  [[nodiscard]] HANDLE reader() const { return reader_; }
  [[nodiscard]] HANDLE writer() const { return writer_; }
  void close_reader() { reader_.close(); }
  void close_writer() { writer_.close(); }

  /// Writes it, and waits until that is done. Not for a writer that an object is bound to.
  void provide(std::string_view text) const;
  /// Waits for so many bytes, and returns them. Not for a reader that an object is bound to.
  [[nodiscard]] std::string taken(std::size_t length) const;

 protected:
  explicit io_stream(std::pair<endpoint, endpoint> ends)
      : reader_{std::move(ends.first)}, writer_{std::move(ends.second)} {}

 private:
  endpoint reader_;
  endpoint writer_;
};

class io_pipe : public io_stream {
 public:
  io_pipe();
};

class io_socket : public io_stream {
 public:
  io_socket();
  /// Ends the connection from the writer's side, as one that was interrupted.
  void reset();
};

/// Writes all of it, and waits until that is done.
void write_unbound(HANDLE writer, std::string_view text);

}  // namespace contract
