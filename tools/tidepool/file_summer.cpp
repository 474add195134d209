#include "file_summer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "interrupt.hpp"
#include "walker.hpp"
#include "xxh3.hpp"

namespace tool {
namespace {

constexpr std::size_t buffer_size = std::size_t{128} * 1024;  // stays in the cache between reading and hashing
constexpr int interrupt_poll_milliseconds = 100;

sum_result failure(std::string message) { return {sum_result::kind::error, {}, std::move(message)}; }

/// A file found in a folder may be passed over; one that was asked for by name may not.
sum_result refusal(const sum_request& request, std::string message) {
  if (request.given) return failure(std::move(message));
  return {sum_result::kind::note, {}, "skipped, " + message};
}

}  // namespace

class file_summer::borrowed_buffer {
 public:
  explicit borrowed_buffer(file_summer& owner) : owner_{owner} {
    {
      const std::lock_guard lock{owner_.mutex_};
      owner_.spare_buffers_.reserve(owner_.spare_buffers_.size() + owner_.lent_ + 1);  // giving back must not throw
      ++owner_.lent_;
      if (!owner_.spare_buffers_.empty()) {
        bytes_ = std::move(owner_.spare_buffers_.back());
        owner_.spare_buffers_.pop_back();
      }
    }
    bytes_.resize(buffer_size);
  }
  borrowed_buffer(const borrowed_buffer&) = delete;
  borrowed_buffer& operator=(const borrowed_buffer&) = delete;
  ~borrowed_buffer() {
    const std::lock_guard lock{owner_.mutex_};
    --owner_.lent_;
    owner_.spare_buffers_.push_back(std::move(bytes_));
  }

  buffer& bytes() noexcept { return bytes_; }

 private:
  file_summer& owner_;
  buffer bytes_;
};

file_summer::file_summer(std::vector<file_identity> outputs, file_count& done)
    : outputs_{std::move(outputs)}, done_{done} {}

sum_result file_summer::sum(const sum_request& request) {
  input_file none;
  return *sum_unless_large(request, std::numeric_limits<std::uint64_t>::max(), none);
}

std::optional<sum_result> file_summer::sum_unless_large(const sum_request& request, std::uint64_t smallest_large,
                                                        input_file& large) try {
  if (interrupted()) return sum_result{};
  if (request.standard_input) {
    input_file input = input_file::standard_input();
    return sum_open_file(request, input);
  }
  std::error_code error;
  input_file file = input_file::open(request.path, error);
  if (error) return failure(failure_message(error));
  if (file.kind() != file_kind::regular) {
    return refusal(request, fmt::format("has become a {} since it was found", name_of(file.kind())));
  }
  if (std::find(outputs_.begin(), outputs_.end(), file.identity()) != outputs_.end()) {
    return refusal(request, "this run writes to it");
  }
  if (file.size() >= smallest_large) {
    large = std::move(file);
    return std::nullopt;
  }
  return sum_open_file(request, file);
} catch (const std::bad_alloc&) {
  return failure("not enough memory to read it");
}

sum_result file_summer::unreadable(const std::error_code& error) {
  return failure("cannot be read: " + error.message());
}

sum_result file_summer::sum_open_file(const sum_request& request, input_file& file) {
  borrowed_buffer borrowed{*this};
  xxh3_128 hash;
  std::error_code error;
  std::uint64_t total = 0;
  for (;;) {
    if (request.standard_input) {
      while (!file.wait_readable(interrupt_poll_milliseconds) && !interrupted()) {
      }
      if (interrupted()) return {};
    }
    const std::size_t count = file.read(borrowed.bytes(), error);
    if (error) return unreadable(error);
    if (count == 0) break;
    hash.update(borrowed.bytes().data(), count);
    done_.add_bytes(count);
    total += count;
    // The read that would only say so is a third of a small file's cost. Files of a kind that has no size are longer.
    if (count < borrowed.bytes().size() && file.kind() == file_kind::regular && total == file.size()) break;
  }
  done_.add_file();
  return {sum_result::kind::summed, hash.result(), {}};
}

}  // namespace tool
