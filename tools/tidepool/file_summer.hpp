#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "file_system.hpp"
#include "progress.hpp"
#include "sum_line.hpp"

namespace tool {

struct sum_request {
  std::string path;
  bool given = false;  ///< on the command line, rather than found in a folder
  bool standard_input = false;
};

struct sum_result {
  enum class kind {
    summed,
    note,      ///< passed over, and that is fine
    error,     ///< could not be summed
    abandoned  ///< an interrupt came first
  };
  kind what = kind::abandoned;
  digest sum{};
  std::string message;  ///< for a note or an error
};

/// Reads one file after the other. Any number of threads may use one at a time; each call holds one read buffer.
class file_summer {
 public:
  /// Files that have one of the identities are where this program writes, and are not summed.
  file_summer(std::vector<file_identity> outputs, file_count& done);

  /// Reads the file to its end. An interrupt keeps a file from being begun, not from being finished; standard input,
  /// which may never end, it ends at once.
  sum_result sum(const sum_request& request);

  /// The same, unless it is a file of at least `smallest_large` bytes: then nothing is returned, and it is open in `large`.
  std::optional<sum_result> sum_unless_large(const sum_request& request, std::uint64_t smallest_large,
                                             input_file& large);

  /// Reads on in a file that is open.
  sum_result sum_open_file(const sum_request& request, input_file& file);

  static sum_result unreadable(const std::error_code& error);
  file_count& done() noexcept { return done_; }

 private:
  using buffer = std::vector<std::byte>;
  class borrowed_buffer;

  std::vector<file_identity> outputs_;
  file_count& done_;
  std::mutex mutex_;
  std::size_t lent_ = 0;               // guarded by mutex_, like the next
  std::vector<buffer> spare_buffers_;  // as many as calls have ever overlapped, at most
};

}  // namespace tool
