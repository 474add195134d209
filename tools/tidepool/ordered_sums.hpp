#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "file_summer.hpp"
#include "overlapped_sum.hpp"
#include "tidepool/callback_environment.hpp"
#include "tidepool/pool.hpp"
#include "tidepool/work.hpp"

namespace tool {

/// Sums files on a thread pool of its own, small ones each in one callback, large ones by overlapped reads, and hands the results back in the order in which the files were added, each
/// as soon as all before it have been handed back.
///
/// At most `window` files are between the two ends at any time, whatever their number: adding one more waits. A large
/// file at the front therefore holds back the results behind it, but not the work on the next `window` files. All
/// members are for one thread, and `deliver` and `idle` are called on it.
class ordered_sums {
 public:
  using delivery = std::function<void(const sum_request&, const sum_result&)>;

  static constexpr std::size_t window = 1024;

  /// `idle` is called about ten times a second while a call here waits. Throws std::system_error when the pool can not
  /// be made.
  ordered_sums(file_summer& summer, std::uint32_t jobs, delivery deliver, std::function<void()> idle);
  ~ordered_sums();
  ordered_sums(const ordered_sums&) = delete;
  ordered_sums& operator=(const ordered_sums&) = delete;

  void add(sum_request request);

  /// Adds something that has its result already, to be delivered in its turn.
  void add_finished(sum_request request, sum_result result);

  /// Delivers what is ready.
  void deliver_ready();

  /// Keeps files that have not been begun from being begun; they are delivered as abandoned.
  void abandon();

  /// Waits for all that was added, and delivers it.
  void finish();

 private:
  struct slot {
    sum_request request;
    const overlapped_sum* large = nullptr;  // guarded by mutex_
    std::optional<sum_result> result;       // guarded by mutex_ until it is set
  };

  void sum_one();
  std::optional<sum_result> begin_large(slot& begun, input_file file);
  void end_large(slot& of, const std::error_code& error, const digest& sum);
  void begin_one_put_off();
  void settle(slot& of, sum_result result);
  slot& open_slot(sum_request request);
  void wait_for_several();

  file_summer& summer_;
  delivery deliver_;
  std::function<void()> idle_;

  std::mutex mutex_;
  std::condition_variable awaited_finished_;
  const slot* awaited_ = nullptr;  // guarded by mutex_
  std::deque<slot*> not_begun_;    // guarded by mutex_
  std::deque<slot*> put_off_;      // guarded by mutex_: large files, while enough of them are being read
  std::vector<std::unique_ptr<overlapped_sum>> large_;  // guarded by mutex_
  std::vector<std::unique_ptr<overlapped_sum>> over_;   // guarded by mutex_: to be destroyed outside their handlers
  std::size_t large_count_ = 0;                         // guarded by mutex_
  bool abandoned_ = false;                              // guarded by mutex_
  std::deque<slot> slots_;  // in order, for the adding thread; growing and shrinking at the ends moves no element

  const std::uint32_t jobs_;
  tidepool::pool pool_;
  tidepool::callback_environment environment_;
  tidepool::work summing_;  // last, so that its drain comes before everything that a callback uses goes
};

}  // namespace tool
