// What the tests of overlapped I/O share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <random>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

#include "safe.hpp"

namespace safe {

using tidepool::acceptance;
using tidepool::access;
using tidepool::buffer;
using tidepool::connection_result;
using tidepool::creation;
using tidepool::endpoint;
using tidepool::endpoint_kind;
using tidepool::operation_id;
using tidepool::socket_address;
using tidepool::transfer;

/// Waits for what one handler is given, and complains if it is called twice. Copies are the same, and the handler keeps
/// one.
template <class Result>
class answer {
 public:
  [[nodiscard]] auto handler() const {
    return [state = state_](Result result) {
      {
        const std::lock_guard lock{state->mutex};
        EXPECT_FALSE(state->result.has_value()) << "a handler was called twice";
        state->result.emplace(std::move(result));
      }
      state->arrived.add();
    };
  }

  /// Waits for it.
  Result& get() {
    if (!state_->arrived.reaches(1)) {
      throw std::runtime_error("a handler was not called");  // which ends the test
    }
    return *state_->result;
  }

  [[nodiscard]] bool is_here() const { return state_->arrived.count() != 0; }

 private:
  struct shared {
    tally arrived;
    std::mutex mutex;
    std::optional<Result> result;
  };
  std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

using text_answer = answer<transfer<std::string>>;

/// What was read.
inline std::string text_of(const transfer<std::string>& result) { return result.buffer.substr(0, result.bytes); }

/// The transfer brought that text.
inline void expect_read(const transfer<std::string>& result, const std::string& expected,
                        const std::source_location& where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expected here");
  EXPECT_FALSE(result.error) << result.error.message();
  EXPECT_EQ(text_of(result), expected);
}

/// The transfer succeeded, with so many bytes.
template <class Buffer>
void expect_done(const transfer<Buffer>& result, std::size_t bytes,
                 const std::source_location& where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expected here");
  EXPECT_FALSE(result.error) << result.error.message();
  EXPECT_EQ(result.bytes, bytes);
}

/// A path at which there is nothing yet, and nothing any more when it goes.
class scratch_file {
 public:
  scratch_file() = default;
  explicit scratch_file(const std::string& content) {
    std::ofstream(path_, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  }
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::filesystem::path fresh_path() {
    std::random_device random;
    return std::filesystem::temp_directory_path() /
           ("tidepool-test-" + std::to_string(random()) + "-" + std::to_string(random()));
  }

  std::filesystem::path path_ = fresh_path();
};

/// Text in which every place looks different.
inline std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i != size; ++i) {
    text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  }
  return text;
}

/// The two ends of a pipe, or of a connection, to write the same test for both.
struct pipe_kind {
  static constexpr endpoint_kind kind = endpoint_kind::pipe;
  static constexpr bool ends_with_an_error = true;
  static std::pair<endpoint, endpoint> make() { return endpoint::make_pipe(); }
  template <class Buffer, class Handler>
  static operation_id read(io& from, Buffer&& buffer, Handler&& handler) {
    return from.read(std::forward<Buffer>(buffer), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  static operation_id read(io& from, Buffer&& buffer, std::size_t bytes, Handler&& handler) {
    return from.read(std::forward<Buffer>(buffer), bytes, std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  static operation_id write(io& to, Buffer&& buffer, Handler&& handler) {
    return to.write(std::forward<Buffer>(buffer), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  static operation_id write(io& to, Buffer&& buffer, std::size_t bytes, Handler&& handler) {
    return to.write(std::forward<Buffer>(buffer), bytes, std::forward<Handler>(handler));
  }
};

struct socket_kind {
  static constexpr endpoint_kind kind = endpoint_kind::socket;
  static constexpr bool ends_with_an_error = false;
  static std::pair<endpoint, endpoint> make() { return endpoint::make_socket_pair(); }
  template <class Buffer, class Handler>
  static operation_id read(io& from, Buffer&& buffer, Handler&& handler) {
    return from.receive(std::forward<Buffer>(buffer), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  static operation_id read(io& from, Buffer&& buffer, std::size_t bytes, Handler&& handler) {
    return from.receive(std::forward<Buffer>(buffer), bytes, std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  static operation_id write(io& to, Buffer&& buffer, Handler&& handler) {
    return to.send(std::forward<Buffer>(buffer), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  static operation_id write(io& to, Buffer&& buffer, std::size_t bytes, Handler&& handler) {
    return to.send(std::forward<Buffer>(buffer), bytes, std::forward<Handler>(handler));
  }
};

/// Both ends, bound.
template <class Kind>
struct channel {
  explicit channel(const tidepool::callback_environment& environment = {}) : channel(Kind::make(), environment) {}

  io reader;
  io writer;

 private:
  channel(std::pair<endpoint, endpoint> ends, const tidepool::callback_environment& environment)
      : reader(std::move(ends.first), environment), writer(std::move(ends.second), environment) {}
};

using stream_kinds = testing::Types<pipe_kind, socket_kind>;

struct stream_names {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::kind == endpoint_kind::pipe ? "pipe" : "socket";
  }
};

/// Writes it and waits until that is done.
template <class Kind>
void write_and_wait(io& to, const std::string& text) {
  text_answer written;
  Kind::write(to, text, written.handler());
  expect_done(written.get(), text.size());
}

}  // namespace safe
