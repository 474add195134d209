#include "file_system.hpp"

#include <utility>

namespace tool {

std::string_view name_of(file_kind kind) noexcept {
  switch (kind) {
    case file_kind::regular: return "regular file";
    case file_kind::folder: return "folder";
    case file_kind::fifo: return "named pipe";
    case file_kind::socket: return "socket";
    case file_kind::character_device: return "character device";
    case file_kind::block_device: return "block device";
    case file_kind::other: break;
  }
  return "special file";
}

input_file::input_file(input_file&& other) noexcept
    : handle_{std::exchange(other.handle_, -1)},
      owned_{std::exchange(other.owned_, false)},
      status_{other.status_},
      identity_{other.identity_} {}

input_file& input_file::operator=(input_file&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::exchange(other.handle_, -1);
    owned_ = std::exchange(other.owned_, false);
    status_ = other.status_;
    identity_ = other.identity_;
  }
  return *this;
}

input_file::~input_file() { close(); }

}  // namespace tool
